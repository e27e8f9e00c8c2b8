"""HDN: the hierarchical dual-net (Li, Peng, Chu 2012), with the RDN and the dual-cube.

Level i of the network consists of two classes of clusters, each a copy of level i-1. Every
super-node of a cluster is joined to one cluster of the other class.
"""
