"""Native code: its sources and its calls. Nothing here imports Numba."""
