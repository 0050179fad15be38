"""What runs inside the sandbox: standard library only, for the target's own Python (3.8 and later)."""
