"""Tests of MPI programs with pytest, on emulated processors in a single process.

pytest loads `plugin`. `team` contains the processors. Each processor has its own session of pytest
(`member`), as under a real launcher. `verdict` combines the outcomes of all processors.
"""
