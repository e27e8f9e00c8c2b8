"""Benchmarks: mpinet and its baselines, measured in turn in one run.

A file a family of benchmarks; `catalogue` knows them by name, `measurement` runs them,
`mpinet.launching` starts them on several ranks. The baselines are minimal
kernels of our own (`kernels`), NumPy, nodes as objects, and graph libraries where these are
installed (`libraries`).
"""

from mpinet.base.rooms import called

called(__name__)
