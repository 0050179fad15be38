"""What is copied into a generated project; runs in the target's Python, from 3.8."""
