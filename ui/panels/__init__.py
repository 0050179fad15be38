"""The panels at the right and the bottom of the window. Views only: they show rows and emit intents."""
