"""The scalable twisted hypercube STH(m,n): a linear loop with chords times a twisted hypercube.

Its paper's wiring, routing and broadcast, with the cube variants that the cube may be, the two
networks that the paper compares with (double-loop hypercube, Hex-Cell), and the other networks that
it names.
"""
