"""Experiments: many runs of one kind, kept so that they can be stopped and taken up again."""
