"""The parts of the window, and what joins each with the others."""
