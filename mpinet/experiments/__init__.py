"""Experiments: many runs that are looked at together, kept so that they can be taken up again."""
