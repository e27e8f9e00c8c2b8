"""The scalable twisted hypercube STH(m,n): a linear loop with chords times a twisted hypercube.

Its paper's wiring, routing and broadcast, with the cube variants that the cube may be. The networks
that the paper compares it with are in `mpinet.networks.classic`.
"""
