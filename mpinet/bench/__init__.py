"""Benchmarks that measure mpinet and its baselines alternately in one run.

Each module has a family of benchmarks. `catalogue` lists all benchmarks by name, `measurement` runs
a benchmark, and `mpinet.launching` starts several ranks. The baselines are mpinet's own minimal
kernels (`kernels`), NumPy, nodes as Python objects, and installed graph libraries (`libraries`).
"""

from mpinet.base.rooms import called

called(__name__)
