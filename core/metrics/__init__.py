"""Text and code similarity, statistics and intervals."""
