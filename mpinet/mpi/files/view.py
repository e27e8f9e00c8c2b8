"""Views: which bytes of a file a processor sees, as a datatype tells, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.mpi.messages.buffers import with_own_datatypes
from mpinet.mpi.messages.layouts import flattened, merged
from mpinet.mpi.real import REAL


class View:
    """The bytes of a file that a processor sees.

    Parameters
    ----------
    displacement : int
        Bytes before the first copy of the file's type.
    etype : Datatype
        What positions count.
    filetype : Datatype
        Which bytes of each copy are seen.
    datarep : str
        How elements are represented.
    """

    def __init__(
        self,
        displacement: int = 0,
        etype: Any = REAL.BYTE,
        filetype: Any = REAL.BYTE,
        datarep: str = "native",
    ):
        self.displacement = displacement
        self.etype, self.filetype = with_own_datatypes(etype, filetype)
        self.datarep = datarep
        self.unit: int = etype.size
        """Bytes of what positions count."""
        # Flattened now, since the script may free its datatype as soon as the call returns.
        self._layout = flattened(filetype)

    def at(self, position: int) -> int:
        """The byte of the file at a position."""
        begins, _ = self._layout.pieces(position * self.unit, 1)
        return self.displacement + int(begins[0])

    def pieces(self, position: int, nbytes: int) -> list[tuple[int, int]]:
        """Runs of bytes from a position on: where each begins in the file, and its bytes."""
        if not nbytes:
            return []
        if self._layout.gapless:
            return [(self.displacement + position * self.unit, nbytes)]
        # Copies of a file type may touch. Merged pieces need fewer calls of the system.
        begins, lengths = merged(*self._layout.pieces(position * self.unit, nbytes))
        return list(zip((begins + self.displacement).tolist(), lengths.tolist(), strict=True))

    def position_at(self, size: int) -> int:
        """The position behind the last byte that is seen of a file of so many bytes."""
        layout = self._layout
        copies, rest = divmod(max(size - self.displacement, 0), layout.extent or 1)
        inside = np.clip(rest - layout.begins, 0, layout.lengths)
        return -(-(copies * layout.size + int(inside.sum())) // self.unit)
