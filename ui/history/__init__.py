"""The history browser: the commits of the open repository, with the edits a run sampled from them."""
