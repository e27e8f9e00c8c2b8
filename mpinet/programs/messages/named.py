"""Programs by name: ``allreduce:ring,1MB,processors=64``."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

from mpinet.base.meant import hint
from mpinet.base.memory import bytes_of
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.scripted import Scripted
from mpinet.programs.kinds import ROOTED
from mpinet.programs.messages.pattern import Written, written
from mpinet.programs.messages.regular import dissemination, halo, shift
from mpinet.programs.messages.textbook import ALGORITHMS

FORM = "COLLECTIVE:ALGORITHM,BYTES[,processors=P][,segment=BYTES][,root=R]"

EXCHANGES = ("halo", "dissemination", "shift")
"""Programs in which all processors act alike: ``exchange:halo,1kB,sides=8x8,rounds=10``."""

EXCHANGE_FORM = "exchange:ALGORITHM,BYTES[,processors=P|,sides=AxB][,rounds=R][,calc=TIME]"

EXCHANGE_KEYS = {"processors": EXCHANGES, "sides": ("halo",), "calc": ("halo",)} | {
    "rounds": ("halo", "shift")
}
"""Keywords of a name, with the exchange programs that accept them."""

MOST_PROCESSORS = 1 << 26

KEYS = ("processors", "segment", "root")


def is_name(text: str) -> bool:
    """Return whether a text has the form of a program's name and is not an existing file."""
    collective, colon, rest = text.partition(":")
    has_form = collective.isalpha() and "," in rest and not Path(text).exists()
    return bool(colon) and (collective in (*ALGORITHMS, "exchange") or has_form)


def program_named(text: str, processors: int | None = None) -> Program | Scripted:
    """Return the program of a name.

    Parameters
    ----------
    text : str
        Name in the form of `FORM` or `EXCHANGE_FORM`.
    processors : int, optional
        Number of processors, if the name does not state it.

    Raises
    ------
    UsageError
        The program does not exist.

    Examples
    --------
    >>> program_named("broadcast:binomial,1kB,processors=8").operations
    14
    """
    collective, _, rest = text.partition(":")
    algorithm, *words = rest.split(",")
    if collective == "exchange":
        return _exchange(text, algorithm, words, processors)
    if collective not in ALGORITHMS:
        known = [*ALGORITHMS, "exchange"]
        raise UsageError(
            f"There is no collective {quoted(collective)}, nor a file {quoted(text)}: "
            f"{hint(collective, known, after='give ' + ', '.join(known) + '.')}"
        )
    if len(words) < 1:
        raise UsageError(f"{quoted(text)}: a program by name is {FORM}.")
    given = dict(processors=processors, segment=None, root=None)
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if key not in KEYS or not equals:
            raise UsageError(f"{quoted(text)}: {quoted(word)} does not belong to {FORM}.")
        given[key] = bytes_of(value) if key == "segment" else _number(value, key)
    count = given["processors"]
    if count is None:
        raise UsageError(f"{quoted(text)}: say for how many processors, by processors=P.")
    if given["root"] is not None and collective not in ROOTED:
        raise UsageError(f"{quoted(text)}: {collective} has no root.")
    return made(
        collective, algorithm, bytes_of(words[0]), count, given["segment"], given["root"] or 0, text
    ).program


def _exchange(text: str, algorithm: str, words: list[str], processors: int | None) -> Scripted:
    """Return the exchange program of a name such as ``exchange:halo,1kB,sides=8x8``."""
    if algorithm not in EXCHANGES or not words:
        raise UsageError(
            f"{quoted(text)}: an exchange by name is {EXCHANGE_FORM}; algorithms are "
            f"{', '.join(EXCHANGES)}."
        )
    numbers, sides = {"rounds": 1, "calc": 0}, list[int]()
    for word in words[1:]:
        key, _, value = word.partition("=")
        if algorithm not in EXCHANGE_KEYS.get(key, ()):
            raise UsageError(
                f"{quoted(text)}: {quoted(word)} does not belong to exchange:{algorithm}."
            )
        if key == "sides":
            sides = [_number(side, key) for side in value.split("x")]
        else:
            numbers[key] = _number(value, key)
    if sides and numbers.get("processors", prod(sides)) != prod(sides):
        raise UsageError(f"{quoted(text)}: its sides are for {prod(sides)} processors.")
    count = numbers.get("processors", processors)
    if not sides and count is None:
        raise UsageError(f"{quoted(text)}: say for how many processors, by processors=P.")
    sides, size = sides or [int(count or 0)], bytes_of(words[0])
    if not 1 <= prod(sides) <= MOST_PROCESSORS:
        raise UsageError(f"An exchange is for 1..2^26 processors, not {prod(sides)}.")
    if algorithm == "halo":
        return halo(sides, size, numbers["rounds"], numbers["calc"], text)
    if algorithm == "shift":
        return shift(sides[0], size, numbers["rounds"], text)
    return dissemination(sides[0], size, text)


def made(
    collective: str,
    algorithm: str,
    size: int,
    processors: int,
    segment: int | None = None,
    root: int = 0,
    name: str = "",
) -> Written:
    """Return the program of a collective by a textbook algorithm.

    Parameters
    ----------
    collective, algorithm : str
        Keys of `textbook.ALGORITHMS`.
    size : int
        Bytes of a processor's longest vector. Broadcast or reduce: the vector. Allgather: the
        gathered vector. Reduce-scatter or alltoall: all data of a processor for the others.
    processors : int
        Number of processors.
    segment : int, optional
        Maximum bytes per segment of a vector.
    root : int
        Root of a broadcast or reduction.

    Raises
    ------
    UsageError
        The algorithm does not exist, or does not support these numbers.
    """
    known = ALGORITHMS[collective]
    if algorithm not in known:
        raise UsageError(
            f"{collective} goes by {', '.join(known)}, not {quoted(algorithm)}: "
            f"{hint(algorithm, known, after='take one of these.')}"
        )
    if not 1 <= processors <= MOST_PROCESSORS:
        raise UsageError(f"A collective is for 1..2^26 processors, not {processors}.")
    if not 0 <= root < processors:
        raise UsageError(f"The root is one of processors 0..{processors - 1}, not {root}.")
    pattern = known[algorithm].make(processors).rooted(root)
    return written(pattern, size, segment, name or f"{collective}:{algorithm},{size}")


def _number(text: str, key: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise UsageError(f"{key}= takes a whole number, not {quoted(text)}.")
    return int(text)
