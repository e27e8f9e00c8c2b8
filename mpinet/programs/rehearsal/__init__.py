"""Rehearsals: needs and messages of one rank of many, computed in one process.

A rank's own part runs on a `Dry` transport. Arrivals from other ranks follow from the rules if
possible (ASCEND, broadcast), and are modelled otherwise (routing, flooding). A `Rehearsal` names
its modelled numbers.
"""
