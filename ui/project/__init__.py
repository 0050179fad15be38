"""The project as a tree of files and as a list of regions."""
