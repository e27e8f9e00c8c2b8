"""Lens and completed lens, bus networks, with the networks that their paper compares with.

Finkel, Solomon: The Lens Interconnection Strategy. Processors sit on shared busses; an address is a
word of n digits with a dot in it, and a hop moves the dot one place and rewrites the digit that it
crosses (pattern A), or rewrites the digit left of the dot (pattern B).
"""
