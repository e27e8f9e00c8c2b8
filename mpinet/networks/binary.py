"""Networks of 2^n processors whose addresses are the bits of their numbers."""

from __future__ import annotations

from mpinet.networks.topology import Topology

MOST_DIMENSIONS = 57
"""Largest n for which 64 bits can number the n 2^n ports."""


class BinaryLabels(Topology):
    """2^n processors, numbered by their labels of n bits read in binary."""

    def _address(self, node: int) -> str:
        """Return the label: the bits of the number."""
        return format(node, f"0{self.size.bit_length() - 1}b")

    def read_address(self, address: str) -> int:
        """Return the processor whose label has these bits."""
        return int(address, 2)
