"""Experiments: networks side by side, a search for the best one, and many runs of one kind."""
