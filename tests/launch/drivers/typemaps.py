"""Random datatypes beside their type maps, which lists and NumPy's indices make from the standard.

Each datatype is made by the MPI that is there; only its extent is asked of that MPI.
"""

from random import Random
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

PLAIN = "CHAR SHORT INT INT64_T FLOAT DOUBLE C_FLOAT_COMPLEX C_DOUBLE_COMPLEX UINT8_T".split()
"""Datatypes without gaps."""

PAIRS = {"SHORT_INT": [*range(2), *range(4, 8)], "DOUBLE_INT": [*range(12)]}
"""Pairs of a value and an index, and the places of their bytes."""

MOST = 2000
"""Bytes of a datatype."""


class Made(NamedTuple):
    """A datatype, and the place of each of its bytes in the order of the type map."""

    datatype: Any
    places: list[int]

    @property
    def extent(self) -> int:
        """Bytes from one element to the next."""
        return self.datatype.extent

    def of(self, count: int) -> np.ndarray:
        """The places of the bytes of several elements."""
        starts = np.arange(count)[:, None] * self.extent
        return (starts + np.array(self.places, int)).ravel()


def leaf(draw: Random, plain: list[str]) -> Made:
    """A predefined datatype."""
    name = draw.choice(plain if plain != PLAIN else [*PLAIN, *PAIRS])
    datatype = getattr(MPI, name)
    return Made(datatype, PAIRS.get(name) or list(range(datatype.size)))


def blocks(inner: Made, starts: list[int], lengths: list[int]) -> list[int]:
    """The places of blocks of elements."""
    return [
        start + number * inner.extent + place
        for start, length in zip(starts, lengths, strict=True)
        for number in range(length)
        for place in inner.places
    ]


def contiguous(draw: Random, inner: Made) -> Made:
    """Elements one after another."""
    count = draw.randint(1, 4)
    return Made(inner.datatype.Create_contiguous(count), blocks(inner, [0], [count]))


def vector(draw: Random, inner: Made) -> Made:
    """Blocks at equal distances, which are elements or bytes."""
    count, length = draw.randint(1, 4), draw.randint(1, 3)
    stride = draw.choice([-1, 1]) * (length + draw.randint(0, 2))
    if draw.random() < 0.5:
        made, unit = inner.datatype.Create_vector(count, length, stride), inner.extent
    else:
        unit = inner.extent + draw.randint(0, 9)
        made = inner.datatype.Create_hvector(count, length, stride * unit)
    starts = [number * stride * unit for number in range(count)]
    return Made(made, blocks(inner, starts, [length] * count))


def indexed(draw: Random, inner: Made) -> Made:
    """Blocks wherever they are, of equal or various lengths."""
    count, equal = draw.randint(1, 5), draw.random() < 0.5
    lengths = [2] * count if equal else [draw.randint(0, 3) for _ in range(count)]
    slots = [number * 3 + draw.randint(0, 1) * (not equal) for number in range(count)]
    draw.shuffle(slots)
    slots = [slot - draw.randint(0, 1) * 4 * count for slot in slots]
    if draw.random() < 0.5:
        starts = [slot * inner.extent for slot in slots]
        make = inner.datatype.Create_indexed_block if equal else inner.datatype.Create_indexed
        return Made(make(2 if equal else lengths, slots), blocks(inner, starts, lengths))
    starts = [slot * (inner.extent + 3) for slot in slots]
    make = inner.datatype.Create_hindexed_block if equal else inner.datatype.Create_hindexed
    return Made(make(2 if equal else lengths, starts), blocks(inner, starts, lengths))


def struct(draw: Random, inner: Made, plain: list[str]) -> Made:
    """Elements of several datatypes. MPIs pad it as they like, so that it is resized."""
    parts = [inner, leaf(draw, plain), inner]
    lengths = [draw.randint(0, 2) for _ in parts]
    starts, end = [], 0
    for part, length in zip(parts, lengths, strict=True):
        starts.append(end - min([0, *part.places]) + draw.randint(0, 5))
        end = starts[-1] + length * part.extent + max([0, *part.places]) + 1
    datatypes = [part.datatype for part in parts]
    made = MPI.Datatype.Create_struct(lengths, starts, datatypes)
    places = [
        place
        for part, start, length in zip(parts, starts, lengths, strict=True)
        for place in blocks(part, [start], [length])
    ]
    wide = made.Create_resized(draw.choice([0, -8, 3]), end + draw.randint(0, 9))
    made.Free()
    return Made(wide, places)


def resized(draw: Random, inner: Made) -> Made:
    """The same elements further apart."""
    extent = inner.extent + draw.randint(0, 20)
    return Made(inner.datatype.Create_resized(draw.choice([0, -4, 5]), extent), inner.places)


def part_of_array(draw: Random, inner: Made) -> Made:
    """A part of an array, or what one process of a grid has of it."""
    sizes = [draw.randint(1, 5) for _ in range(draw.randint(1, 3))]
    named = draw.choice("CF")
    order = MPI.ORDER_C if named == "C" else MPI.ORDER_F
    if draw.random() < 0.6:
        chosen = [sorted(draw.sample(range(size + 1), 2)) for size in sizes]
        lengths = [end - begin for begin, end in chosen]
        starts = [begin for begin, _ in chosen]
        datatype = inner.datatype.Create_subarray(sizes, lengths, starts, order)
        owned = [range(*each) for each in chosen]
    else:
        datatype, owned = dealt(draw, inner, sizes, order)
    numbers = np.arange(np.prod(sizes)).reshape(sizes, order=named)
    elements = numbers[np.ix_(*map(list, owned))].ravel(order=named).tolist()
    return Made(datatype, blocks(inner, [inner.extent * e for e in elements], [1] * len(elements)))


def dealt(draw: Random, inner: Made, sizes: list[int], order: int) -> tuple[Any, list[Any]]:
    """What one process of a grid has of an array: a datatype, and the indices of each dimension."""
    kinds, blocks_, grid = [], [], []
    for size in sizes:
        kind = draw.choice([MPI.DISTRIBUTE_NONE, MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_CYCLIC])
        grid.append(1 if kind == MPI.DISTRIBUTE_NONE else draw.randint(1, size))
        block = MPI.DISTRIBUTE_DFLT_DARG
        if kind == MPI.DISTRIBUTE_CYCLIC and draw.random() < 0.5:
            block = draw.randint(1, 2)
        kinds.append(kind)
        blocks_.append(block)
    rank = draw.randrange(int(np.prod(grid)))
    places = np.unravel_index(rank, grid)
    owned = []
    for size, kind, block, processes, place in zip(
        sizes, kinds, blocks_, grid, places, strict=True
    ):
        if kind == MPI.DISTRIBUTE_CYCLIC:
            each = 1 if block == MPI.DISTRIBUTE_DFLT_DARG else block
        else:
            each = -(-size // processes)
        owned.append([index for index in range(size) if index // each % processes == place])
    datatype = inner.datatype.Create_darray(
        int(np.prod(grid)), rank, sizes, kinds, blocks_, grid, order
    )
    return datatype, owned


def nested(draw: Random, depth: int, plain: list[str]) -> Made:
    """A datatype made of others, so many times."""
    if depth == 0:
        return leaf(draw, plain)
    inner = nested(draw, depth - 1, plain)
    while not inner.places:  # which some MPIs do not take
        inner = nested(draw, depth - 1, plain)
    kinds = [contiguous, vector, indexed, resized, part_of_array, struct]
    kind = draw.choice(kinds)
    made = struct(draw, inner, plain) if kind is struct else kind(draw, inner)
    if not inner.datatype.is_predefined:
        inner.datatype.Free()
    return made


def drawn(draw: Random, plain: list[str] = PLAIN, ascending: bool = False) -> tuple[Made, int]:
    """A datatype of which no byte has the place of another one, and a number of elements."""
    while True:
        made, count = nested(draw, draw.randint(1, 3), plain), draw.randint(1, 3)
        places = made.of(count)
        good = 0 < len(places) <= MOST and len(np.unique(places)) == len(places)
        good = good and made.extent > 0 and (not ascending or (np.diff(places) > 0).all())
        good = good and (not ascending or made.places[0] >= 0)
        if good and np.ptp(places) < 8 * MOST:
            made.datatype.Commit()
            return made, count
        made.datatype.Free()
