"""Values of matrices over pairs of nodes, with the pair where they are found.

Where several pairs have the value, the one with the smallest numbers is the witness.
"""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Matrix
from mpinet.claims import Measured


def largest_pair(matrix: Matrix) -> tuple[int, int]:
    """Row and column of the largest entry."""
    source, target = np.unravel_index(int(matrix.argmax()), matrix.shape)
    return int(source), int(target)


def smallest_pair(matrix: Matrix) -> tuple[int, int]:
    """Row and column of the smallest entry."""
    source, target = np.unravel_index(int(matrix.argmin()), matrix.shape)
    return int(source), int(target)


def farthest(matrix: Matrix) -> Measured:
    """The largest entry and its pair: of distances, the diameter."""
    source, target = largest_pair(matrix)
    return Measured(int(matrix[source, target]), {"source": source, "target": target})
