"""Entry points and wiring: the window and the command line."""
