"""Sandboxes: Docker, bubblewrap and none behind one Protocol."""
