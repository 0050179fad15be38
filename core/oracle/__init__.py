"""Sandboxes, the test runner inside them, and verdicts."""
