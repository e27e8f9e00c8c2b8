"""Unmodified mpi4py scripts as the programs of an emulated machine's processors.

Every processor is a rank of the script's world, with a ``__main__`` of its own. What scripts send
is routed hop by hop by the machine; their collectives are algorithms over such messages. Nothing
of a script's time is measured but the machine's steps.

`script` runs one, with the stand-in for mpi4py that `module` makes of `messages`, `collectives`
and `communicators`; `world` runs the processors. What only a real MPI has is refused
(`refusals`).
"""
