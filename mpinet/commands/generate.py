"""``mpinet schedule generate``: write a textbook collective as a program of messages."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from mpinet.commands.fields import Count, Positive
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import File, Options, Shown, Typed
from mpinet.commands.result import Result


class GeneratedResult(Result):
    """Result of ``schedule generate``."""

    processors: Positive
    operations: Count
    messages: Count
    bytes: Annotated[Count, "of all messages"]


@dataclass(frozen=True)
class GenerateOptions(Options):
    """Write a textbook algorithm of a collective as a program of messages, by rank 0 (collective).

    Returns
    -------
    Result
        FILE: the program.

    Raises
    ------
    UsageError
        There is no such program, or the file cannot be written.

    Examples
    --------
    ``mpinet schedule generate allreduce:ring,1MB,processors=16 --out ring.goal``

    ``mpinet schedule generate broadcast:chain,1MB,processors=16,segment=64kB --out chain.goal``

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = generate("allgather:bruck,4kB,processors=5", out=f"{folder}/bruck.goal")
    >>> made.messages, made.bytes
    (15, 16000)
    """

    command = "schedule generate"
    columns: ClassVar = {"out": "file"}
    program: Annotated[str, Typed(metavar="PROGRAM")]
    """COLLECTIVE:ALGORITHM,BYTES,processors=P[,segment=BYTES][,root=R]; or a halo exchange of all
    processors, exchange:halo,BYTES,sides=AxB[,rounds=R][,calc=TIME]. ``docs/reference/time.md``
    lists the algorithms."""
    _: KW_ONLY
    out: File
    """GOAL file to write."""


generate = function_with(GenerateOptions, GeneratedResult, Shown)
