"""Runs on several machines: a Model and an Oracle over Ray actors. Ray places, restarts, retries and ships."""
