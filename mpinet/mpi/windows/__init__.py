"""Windows: memory that other processors may put to, get from and combine with.

An access is a message that acts at its target when it comes, whatever the processor there does, and
is routed and counted like all others. Accesses of one processor to the memory of another act in the
order in which they were made.
"""
