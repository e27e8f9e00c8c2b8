"""Cartesian virtual topologies: coordinates, shifts, subgrids."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from operator import index

from mpinet.mpi.real import PROC_NULL, REAL
from mpinet.mpi.world.endpoint import Endpoint

Periods = Sequence[bool] | bool | None


class RankGrid:
    """A grid of ranks; consecutive ranks are neighbors in the last dimension.

    Parameters
    ----------
    dims : sequence of int
        Number of ranks in each dimension.
    periods : sequence of bool, bool or None
        Whether each dimension is periodic; a single value applies to all (default: none).

    Raises
    ------
    ValueError
        The number of periods differs from the number of dimensions.
    Exception
        A dimension has no rank.
    """

    kind = REAL.CART

    __slots__ = ("dims", "periods")

    def __init__(self, dims: Sequence[int], periods: Periods = None):
        self.dims = tuple(index(length) for length in dims)
        if periods is None or isinstance(periods, bool):
            periods = [bool(periods)] * len(self.dims)
        self.periods = tuple(bool(period) for period in _as_many(periods, len(self.dims)))
        if any(length < 1 for length in self.dims):
            raise REAL.Exception(REAL.ERR_DIMS)

    @property
    def size(self) -> int:
        """Number of ranks in the grid."""
        return math.prod(self.dims)

    def coords(self, rank: int) -> list[int]:
        """Return the grid coordinates of a rank."""
        found = []
        for length in reversed(self.dims):
            rank, place = divmod(rank, length)
            found.append(place)
        return found[::-1]

    def rank(self, coords: Sequence[int]) -> int:
        """Return the rank at given coordinates; `PROC_NULL` beyond an end."""
        rank = 0
        for place, length, ring in zip(coords, self.dims, self.periods, strict=True):
            if not ring and not 0 <= place < length:
                return PROC_NULL
            rank = rank * length + place % length
        return rank

    def shift(self, rank: int, direction: int, disp: int) -> int:
        """Return the rank at a distance in a dimension; `PROC_NULL` beyond an end."""
        coords = self.coords(rank)
        coords[direction] += disp
        return self.rank(coords)

    def without(self, remain_dims: Sequence[bool]) -> RankGrid:
        """Return the grid of the remaining dimensions."""
        kept = [place for place, remains in enumerate(remain_dims) if remains]
        return RankGrid(
            [self.dims[place] for place in kept], [self.periods[place] for place in kept]
        )

    def line(self, rank: int, remain_dims: Sequence[bool]) -> list[int]:
        """Return the ranks that differ from `rank` only in remaining dimensions, in order."""
        ranges = [
            range(length) if remains else (place,)
            for length, remains, place in zip(
                self.dims, remain_dims, self.coords(rank), strict=True
            )
        ]
        return [self.rank(coords) for coords in product(*ranges)]

    # ---- neighborhood collectives

    def sources(self, rank: int) -> list[int]:
        """Return the neighbors of a rank: in each dimension the lower and the upper neighbor."""
        directions = range(len(self.dims))
        return [self.shift(rank, direction, disp) for direction in directions for disp in (-1, 1)]

    targets = sources

    @property
    def ways(self) -> int:
        """Number of link directions: two per dimension, at least 1."""
        return max(1, 2 * len(self.dims))

    def way(self, place: int) -> int:
        """Return the direction of the link to the target at an index of `targets`."""
        return place

    def way_from(self, place: int) -> int:
        """Return the direction in which the source at an index of `sources` sends."""
        return place ^ 1


class CartesianCalls(Endpoint):
    """Calls on a communicator with a grid, as in `mpi4py.MPI.Cartcomm`."""

    __slots__ = ()

    @property
    def _grid(self) -> RankGrid:
        """The communicator's grid of ranks."""
        grid: RankGrid = self._state.topology
        return grid

    def Get_dim(self) -> int:
        """Return the number of dimensions."""
        return len(self._grid.dims)

    dim, ndim = property(Get_dim), property(Get_dim)

    def Get_topo(self) -> tuple[list[int], list[int], list[int]]:
        """Return the dimensions, their periodicity, and the caller's coordinates."""
        return self.dims, self.periods, self.coords

    topo = property(Get_topo)

    @property
    def dims(self) -> list[int]:
        """Number of ranks in each dimension."""
        return list(self._grid.dims)

    @property
    def periods(self) -> list[int]:
        """For each dimension 1 if periodic, otherwise 0."""
        return [int(period) for period in self._grid.periods]

    @property
    def coords(self) -> list[int]:
        """Grid coordinates of the calling rank."""
        return self._grid.coords(self.rank)

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        """Return the rank at given grid coordinates."""
        rank = self._grid.rank(_as_many(coords, self.Get_dim()))
        if rank == PROC_NULL:
            raise REAL.Exception(REAL.ERR_ARG)
        return rank

    def Get_coords(self, rank: int) -> list[int]:
        """Return the grid coordinates of a rank."""
        self._others.processor(rank)
        return self._grid.coords(rank)

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """Return the source and the target rank of a shift along a dimension.

        Parameters
        ----------
        direction : int
            The dimension.
        disp : int
            Distance; negative values shift downwards.

        Returns
        -------
        source, target : int
            Ranks; `PROC_NULL` beyond an end.
        """
        if not 0 <= direction < self.Get_dim():
            raise REAL.Exception(REAL.ERR_DIMS)
        shift = self._grid.shift
        return shift(self.rank, direction, -disp), shift(self.rank, direction, disp)

    @property
    def degrees(self) -> tuple[int, int]:
        """Number of sources and of targets, including those beyond the ends of the grid."""
        return 2 * self.Get_dim(), 2 * self.Get_dim()


def _as_many(given: Sequence[int], count: int) -> Sequence[int]:
    """Return the given values after checking their number.

    Raises
    ------
    ValueError
        The number of values differs from `count`.
    """
    if len(given) != count:
        raise ValueError(f"expecting {count} items, got {len(given)}")
    return given
