"""Pools of workers for `mpi4py.futures`, implemented without threads.

`mpi4py.futures` itself is the real package. Only its module ``_core`` is replaced (`core`). A
`crew` is a set of processors that work for one processor. `pending` is the awaited result of a
task.
"""
