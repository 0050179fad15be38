"""The page of the metric audit."""
