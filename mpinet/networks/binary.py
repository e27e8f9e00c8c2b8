"""Networks of 2^n processors whose addresses are the bits of their numbers."""

from __future__ import annotations

from mpinet.networks.topology import Topology

MOST_DIMENSIONS = 57
"""Largest n for which 64 bits number the n 2^n ports."""


class BinaryLabels(Topology):
    """2^n processors, numbered by their labels of n bits read in binary."""

    def _address(self, node: int) -> str:
        """The label: the bits of the number."""
        return format(node, f"0{self.size.bit_length() - 1}b")

    def read_address(self, address: str) -> int:
        """Parse an address of bits; return the processor's number."""
        return int(address, 2)
