"""Experiments: comparison of networks, search for the best network, and sweeps of many runs."""
