"""What `benchmarks/oracle.py` is made of."""
