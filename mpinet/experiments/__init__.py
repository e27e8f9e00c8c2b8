"""Experiments: networks side by side, the best one, and many runs that are looked at together."""
