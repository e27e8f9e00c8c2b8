"""Pools of workers: what `mpi4py.futures` rests on, in place of its threads.

`mpi4py.futures` itself is the real one; only its module ``_core`` is ours (`core`). A `crew` is
processors that work for one of them, `pending` a task's result that is waited for.
"""
