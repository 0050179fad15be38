"""Judges programs of benchmarks, whose tests need no pytest."""
