"""Lens and completed lens, bus networks, and the networks that their paper compares.

Finkel, Solomon: The Lens Interconnection Strategy. Processors are on shared busses. An address is a
word of n digits with a dot in it. A hop of pattern A moves the dot one place and rewrites the
crossed digit. A hop of pattern B rewrites the digit left of the dot.
"""
