"""BSN and GBSN of "A generalized topology of block shift networks for clusters".

A processor's address is a word of n bits: its block on the left, its place in the block on the
right. Partial links inside a block set the rightmost bits, shift links between blocks rotate the
whole word by b positions. In a GBSN the blocks may have any sizes.
"""
