"""Tests of MPI programs by pytest, on emulated processors in one process.

`plugin` is what pytest loads, `team` the processors, each of which has a session of pytest of its
own (`member`), as under a real launcher; `verdict` makes one outcome of all of theirs.
"""
