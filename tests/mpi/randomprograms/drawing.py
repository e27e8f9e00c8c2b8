"""What the operations of a random program share: numbers, memory of datatypes, and the log."""

import sys
import zlib
from collections.abc import Callable
from math import lcm
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from mpi4py import MPI

sys.path.append(str(Path(__file__).resolve().parents[2] / "launch/drivers"))
import typemaps

BASES = "SHORT INT INT64_T FLOAT DOUBLE UINT8_T CHAR".split()
"""Datatypes of which others are made. Open MPI 5.0 packs complex elements with gaps wrongly."""

KINDS = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()
"""Element types of arrays."""

OF_BASE = {
    "SHORT": "i2",
    "INT": "i4",
    "INT64_T": "i8",
    "FLOAT": "f4",
    "DOUBLE": "f8",
    "UINT8_T": "u1",
    "CHAR": "u1",
}
"""Element types of arrays with the bytes of a datatype."""


class Program:
    """One program on this rank: a communicator, the numbers that all ranks draw, and the log.

    `draw` gives all ranks the same numbers, so that every rank has to draw the same number of them.
    """

    def __init__(self, seed: int, log: Any, folder: str, planted: tuple[int, int] | None):
        self.comm = MPI.COMM_WORLD.Dup()
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.draw = Random(seed)
        self.folder = folder
        self.seed = seed
        self._log, self._planted = log, planted
        self.place, self._salt = 0, 0

    def begin(self, place: int, name: str) -> None:
        """Note that an operation begins."""
        self.place, self._salt, self._name = place, 0, name
        self.draw = Random(f"{self.seed}/{place}")

    def say(self, *things: Any) -> None:
        """Add a line to the log: the operation, and what it has left."""
        said = " ".join(map(_said, things))
        if self._planted == (self.rank, self.place):
            said += "?"
        self._log.write(f"{self.place} {self._name} {said}\n")
        self._log.flush()

    def numbers(self, shape: Any, kind: str = "f8", who: int | None = None, salt: int = 0) -> Any:
        """An array of numbers of a rank, small and whole, so that sums of them are exact."""
        who = self.rank if who is None else who
        generator = np.random.default_rng([self.seed, self.place, salt, who])
        low = 0 if kind[0] == "u" else -5
        found = generator.integers(low, 6, shape).astype(kind)
        if kind[0] == "c":
            found += 1j * generator.integers(-5, 6, shape)
        return np.ascontiguousarray(found)

    def bytes(self, length: int, who: int | None = None, salt: int = 0) -> Any:
        """An array of a rank's bytes."""
        who = self.rank if who is None else who
        generator = np.random.default_rng([self.seed, self.place, salt, who])
        return generator.integers(0, 256, length, np.uint8)

    def kind(self) -> str:
        """Draw an element type."""
        return self.draw.choice(KINDS)

    def count(self) -> int:
        """Draw a number of elements, often a small one."""
        return self.draw.choice([0, 1, 1, 2, 3, 5, 8, 17, 300, 5000])

    def root(self) -> int:
        """Draw a rank."""
        return self.draw.randrange(self.size)

    def shift(self) -> tuple[int, int]:
        """Draw a distance; return the ranks so far behind and before this one."""
        distance = self.draw.randrange(self.size)
        return (self.rank + distance) % self.size, (self.rank - distance) % self.size


def _said(thing: Any) -> str:
    """A thing in the log: arrays by their type, shape, sum and first numbers."""
    if isinstance(thing, np.ndarray):
        first = thing.ravel()[:4].tolist()
        return f"{thing.dtype}{list(thing.shape)}:{zlib.crc32(thing.tobytes()):08x}:{first}"
    return repr(thing).replace("\n", " ")


class Side:
    """Memory with elements of a derived datatype, in the form of a call's argument."""

    def __init__(self, program: Program, made: Any, count: int, salt: int, blocks: int = 1):
        places = made.of(count * blocks)
        origin = int(8 - min(0, places.min()))
        length = max(origin + count * blocks * made.extent, int(places.max()) + origin) + 9
        self.whole = program.bytes(length, salt=salt)
        self.spec = [self.whole[origin:], count, made.datatype]
        self.places, self.origin = places + origin, origin
        self.elements = self.whole[origin : origin + count * blocks * made.extent]

    @property
    def body(self) -> Any:
        """The elements' bytes in the order of the type map."""
        return self.whole[self.places]


class Matching:
    """Two datatypes, one for the sender and one for the receiver, with the same signature."""

    def __init__(self, program: Program, blocks: int = 1):
        draw, base = program.draw, program.draw.choice(BASES)
        size = getattr(MPI, base).Get_size()
        self.base, self.kind = base, OF_BASE[base]
        one, number = typemaps.drawn(draw, [base])
        other, _ = typemaps.drawn(draw, [base])
        together = lcm(len(one.places), len(other.places))
        total = len(one.places) * number
        if draw.random() < 0.6:
            total = together
        counts = [total // len(each.places) for each in (one, other)]
        whole = total % len(other.places) == 0 and total < 20000
        if not whole or not all(
            _apart(e, n * blocks) for e, n in zip((one, other), counts, strict=True)
        ):
            other.datatype.Free()
            dense = getattr(MPI, base).Create_contiguous(1).Commit()
            other, total = typemaps.Made(dense, list(range(size))), len(one.places) * number
            counts = [number, total // size]
            if not _apart(one, number * blocks):
                one.datatype.Free()
                one = typemaps.Made(dense.Dup(), list(range(size)))
                counts = [total // size] * 2
        self.sent, self.received = (one, counts[0]), (other, counts[1])
        if draw.random() < 0.5:
            self.sent, self.received = self.received, self.sent
        self.elements = total // size
        self._program = program

    def out(self, salt: int = 1, blocks: int = 1) -> Side:
        """The sender's memory."""
        return Side(self._program, *self.sent, salt, blocks)

    def into(self, salt: int = 2, blocks: int = 1) -> Side:
        """The receiver's memory."""
        return Side(self._program, *self.received, salt, blocks)

    def free(self) -> None:
        """Free both datatypes."""
        self.sent[0].datatype.Free()
        self.received[0].datatype.Free()


def _apart(made: Any, count: int) -> bool:
    """Whether no byte of the elements has the place of another one."""
    places = made.of(count)
    return len(np.unique(places)) == len(places) and int(np.ptp(places)) < 200_000


def failing(work: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """How a wrong call fails: the class of the error of MPI, or the kind of exception."""
    try:
        work(*arguments, **named)
    except MPI.Exception as error:
        return MPI.Get_error_string(error.Get_error_class()).split(":")[0]
    except Exception as error:
        return type(error).__name__
    return "fine"
