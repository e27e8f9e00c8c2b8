"""Views: the bytes of a file visible to a processor, as a repeated datatype."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.mpi.messages.buffers import with_own_datatypes
from mpinet.mpi.messages.layouts import flattened, merged
from mpinet.mpi.real import REAL


class View:
    """The bytes of a file visible to a processor.

    Parameters
    ----------
    displacement : int
        Bytes before the first copy of the file type.
    etype : Datatype
        Unit of positions.
    filetype : Datatype
        Visible bytes of each copy.
    datarep : str
        Data representation.
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
        """Size of the unit of positions in bytes."""
        # Flattened now, because the script may free its datatype after the call.
        self._layout = flattened(filetype)

    def at(self, position: int) -> int:
        """Return the byte of the file at a position."""
        begins, _ = self._layout.pieces(position * self.unit, 1)
        return self.displacement + int(begins[0])

    def pieces(self, position: int, nbytes: int) -> list[tuple[int, int]]:
        """Return the pieces of an access: begin in the file and length of each."""
        if not nbytes:
            return []
        if self._layout.gapless:
            return [(self.displacement + position * self.unit, nbytes)]
        # Copies of a file type may be adjacent. Merged pieces need fewer system calls.
        begins, lengths = merged(*self._layout.pieces(position * self.unit, nbytes))
        return list(zip((begins + self.displacement).tolist(), lengths.tolist(), strict=True))

    def position_at(self, size: int) -> int:
        """Return the position behind the last visible byte of a file with `size` bytes."""
        layout = self._layout
        copies, rest = divmod(max(size - self.displacement, 0), layout.extent or 1)
        inside = np.clip(rest - layout.begins, 0, layout.lengths)
        return -(-(copies * layout.size + int(inside.sum())) // self.unit)
