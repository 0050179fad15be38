"""This window's own runs: started, held, queued, resumed, listed, and the models they ask."""
