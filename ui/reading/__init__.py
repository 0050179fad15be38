"""What the window reads: a database, a run in it, the open project."""
