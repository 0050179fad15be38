"""The code view: a read-only editor that shows what became of each region."""
