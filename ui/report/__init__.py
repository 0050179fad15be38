"""Self-contained HTML pages about stored runs. No Qt: the command line writes them too."""
