"""The scalable twisted hypercube STH(m,n): a linear loop with chords times a twisted hypercube.

The module has the wiring, routing and broadcast of the paper, and the cube variants for the cube.
The networks that the paper compares are in `mpinet.networks.classic`.
"""
