"""BSN and GBSN of "A generalized topology of block shift networks for clusters".

A processor's address is a word of n bits: on the left its block, on the right its place in the
block. Partial links inside a block set the rightmost bits. Shift links between blocks rotate the
whole word by b positions. In a GBSN the blocks may have any sizes.
"""
