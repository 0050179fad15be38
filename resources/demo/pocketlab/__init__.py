"""Small everyday algorithms, one subject a module."""
