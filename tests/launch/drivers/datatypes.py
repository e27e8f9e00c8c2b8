"""Messages of random datatypes, whose bytes are compared with the datatypes' type maps.

``datatypes.py FIRST COUNT``: seeds. Each rank draws the same datatypes, and prints a line per call:
a checksum of all bytes, and whether they are those of the type map.
"""

import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from random import Random

import numpy as np
import typemaps
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
FOLDER = comm.bcast(tempfile.mkdtemp() if rank == 0 else None)


class Side:
    """Memory with elements of a datatype, and the places of the bytes of some blocks of them.

    The elements begin somewhere in an array, and may reach before the view that is given to MPI.
    """

    def __init__(self, made: typemaps.Made, count: int, blocks: int, seed: int):
        self.places = made.of(count * blocks)
        self.origin = int(8 - min(0, self.places.min()))
        self.places += self.origin
        length = max(self.origin + count * blocks * made.extent, self.places.max()) + 9
        self.whole = np.random.default_rng(seed).integers(0, 256, length, np.uint8)
        self.before = self.whole.copy()
        self.spec = [self.whole[self.origin :], count, made.datatype]

    @property
    def body(self) -> np.ndarray:
        """The bytes of the elements as they are."""
        return self.whole[self.places]

    def got(self, body: np.ndarray) -> str:
        """What it has got: these bytes from its first element on, and no change elsewhere?"""
        expected = self.before.copy()
        expected[self.places[: len(body)]] = body
        return compared(self.whole, expected)


def compared(found: np.ndarray, expected: np.ndarray) -> str:
    """A checksum of bytes, and whether they are as expected."""
    right = len(found) == len(expected) and (found == expected).all()
    return f"{zlib.crc32(found)} {'right' if right else 'wrong'}"


def trial(seed: int) -> Iterator[tuple[str, str]]:
    """What each call leaves of one drawn datatype."""
    draw = Random(seed)
    made, count = typemaps.drawn(draw)
    each = count * len(made.places)

    def side(salt: int, blocks: int = 1, who: int = rank) -> Side:
        return Side(made, count, blocks, 1000 * seed + 10 * salt + who)

    def dense(length: int, who: int = rank) -> np.ndarray:
        return np.random.default_rng([seed, who]).integers(0, 256, length, np.uint8)

    def plain(array: np.ndarray) -> list[object]:
        return [array, MPI.BYTE]

    before, after = (rank - 1) % size, (rank + 1) % size
    out, got = side(1), np.zeros(each, np.uint8)
    comm.Sendrecv(out.spec, after, 0, plain(got), before, 0)
    yield "send", compared(got, side(1, who=before).body)

    into = side(2)
    comm.Sendrecv(plain(dense(each)), after, 0, into.spec, before, 0)
    yield "receive", into.got(dense(each, before))

    part, into = draw.randint(1, count) * len(made.places), side(3)
    request = comm.Irecv(into.spec, before)
    comm.Send(plain(dense(part)), after)
    request.Wait()
    yield "part", into.got(dense(part, before))

    into = side(4)
    comm.Sendrecv_replace(into.spec, after, 0, before, 0)
    yield "replace", into.got(side(4, who=before).body)

    into = side(5)
    comm.Bcast(into.spec, seed % size)
    yield "bcast", into.got(side(5, who=seed % size).body)

    into, one = side(6, size), side(7)
    comm.Gather(one.spec, into.spec if rank == 0 else None)
    if rank == 0:
        yield "gather", into.got(np.concatenate([side(7, who=r).body for r in range(size)]))
    comm.Allgather(plain(dense(each)), into.spec)
    all_dense = np.concatenate([dense(each, who) for who in range(size)])
    yield "allgather", into.got(all_dense)

    out, into = side(8, size), side(9)
    comm.Scatter(out.spec if rank == 0 else None, into.spec)
    yield "scatter", into.got(side(8, size, 0).body[rank * each : (rank + 1) * each])

    out, into = side(8, size), side(9, size)
    comm.Alltoall(out.spec, into.spec)
    parts = [side(8, size, who).body[rank * each : (rank + 1) * each] for who in range(size)]
    yield "alltoall", into.got(np.concatenate(parts))

    out, into = side(8, size), side(9, size)
    places = [who * count * made.extent for who in range(size)]
    types = [made.datatype] * size
    comm.Alltoallw(
        [out.spec[0], [count] * size, places, types], [into.spec[0], [count] * size, places, types]
    )
    yield "alltoallw", into.got(np.concatenate(parts))

    yield from accesses(made, count, each, side(2), side(3), dense)
    made.datatype.Free()
    yield from file_views(draw, seed, dense)


def accesses(made, count, each, mine, other, dense) -> Iterator[tuple[str, str]]:
    """What puts and gets leave of a datatype at the target."""
    before, after = (rank - 1) % size, (rank + 1) % size
    window = MPI.Win.Create(mine.whole, 1, comm=comm)
    target = [mine.origin, count, made.datatype]
    window.Fence()
    window.Put([dense(each), MPI.BYTE], after, target)
    window.Fence()
    yield "put", mine.got(dense(each, before))
    got = np.zeros(each, np.uint8)
    window.Get([got, MPI.BYTE], after, target)
    window.Fence()
    yield "got", compared(got, dense(each))
    window.Get(other.spec, after, [mine.origin, count, made.datatype])
    window.Fence()
    yield "get", other.got(dense(each))
    window.Free()


def file_views(draw: Random, seed: int, dense) -> Iterator[tuple[str, str]]:
    """What is written to a file, and read from it, where a datatype tells which bytes are seen."""
    view, count = typemaps.drawn(draw, ["BYTE"], ascending=True)
    memory, number = typemaps.drawn(draw, ["BYTE"])
    name = os.path.join(FOLDER, f"{seed}.{rank}")
    file = MPI.File.Open(MPI.COMM_SELF, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
    skipped, length = draw.randint(0, 9), count * len(view.places)
    file.Set_view(skipped, MPI.BYTE, view.datatype)
    file.Write([dense(length), MPI.BYTE])
    out = Side(memory, number, 1, seed)
    start = draw.randint(0, length)
    file.Write_at(start, out.spec)
    told = np.concatenate([dense(length)[:start], out.body, dense(length)[start + len(out.body) :]])
    file.Set_view()
    found = np.zeros(file.Get_size(), np.uint8)
    file.Read_at(0, found)
    copies = -(-len(told) // len(view.places))
    expected = np.zeros(skipped + copies * view.extent + max(view.places) + 1, np.uint8)
    seen = skipped + view.of(copies)[: len(told)]
    expected[seen] = told
    yield "written", compared(found, expected[: seen.max() + 1])
    file.Set_view(skipped, MPI.BYTE, view.datatype)
    into = Side(memory, number, 1, seed + 1)
    start = draw.randint(0, len(told) - len(into.places)) if len(told) > len(into.places) else 0
    file.Read_at(start, into.spec)
    yield "read", into.got(told[start : start + len(into.places)])
    file.Close()
    view.datatype.Free()
    memory.datatype.Free()


first, trials = map(int, sys.argv[1:])
for drawn in range(first, first + trials):
    for call, found in trial(drawn):
        print(rank, drawn, call, found, flush=True)
