"""Labelling of error modes: the queue of samples, the panel, files of labels."""
