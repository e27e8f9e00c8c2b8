"""Unmodified mpi4py scripts as programs of an emulated machine's processors.

Every processor is a rank of the script's world, with its own ``__main__``. The machine routes
messages of scripts hop by hop. Collectives are algorithms based on these messages. Time is measured
only in steps of the machine.

`script` runs a script with the stand-in for mpi4py. `module` builds the stand-in from `messages`,
`collectives` and `communicators`. `world` runs the processors. Features available only in a real
MPI are refused (`refusals`).
"""
