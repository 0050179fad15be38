"""Benchmark files as generated projects, which the oracle of projects judges."""
