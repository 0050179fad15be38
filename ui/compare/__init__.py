"""Stored runs against one another: a page of the window. Its keys are known to the list of keys before it is made."""

# Words and keys; other keys walk the changes in the diffs inside.
STEPS = (("Next item of the comparison", "Alt+Right"), ("Previous item of the comparison", "Alt+Left"))
REFERENCE = ("Make the run the reference", "R")
