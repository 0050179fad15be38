"""What there is to round-trip: codebase files, later edits, problems and notebook turns."""
