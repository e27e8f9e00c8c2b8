"""Rehearsals: what one rank of many would need and send, found out on one process.

A rank's own part is played on a `Dry` transport. What would come from other ranks is known where
the rules tell it (ASCEND, broadcast) and modelled where they do not (routing, flooding): a
`Rehearsal` says which of its numbers rest on that.
"""
