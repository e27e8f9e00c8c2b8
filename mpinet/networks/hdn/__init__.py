"""HDN: the hierarchical dual-net (Li, Peng, Chu 2012), with the RDN and the dual-cube.

Level i of the network is made of two classes of clusters, each a copy of level i-1; every
super-node of a cluster is joined to one cluster of the other class.
"""
