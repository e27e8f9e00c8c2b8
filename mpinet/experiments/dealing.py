"""Dealing out work: a piece of it is one rank's alone, or of all ranks together.

What is found is written down at once, so that work that was stopped goes on where it was. It does
not depend on who does what, only the time does. Sweeps, verifications and curves of traffic are
dealt out here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mpinet.errors import MpinetError, Suspended
from mpinet.experiments.journal import Journal
from mpinet.machine.transport import STOP, Local, alone


@dataclass(frozen=True)
class Dealt:
    """Results of dealt work, on rank 0."""

    found: dict[str, Any]
    """Results of the pieces by key, of this run and earlier ones; values are of JSON's kinds."""
    computed: int
    """Number of pieces that this run had to compute."""
    damaged: int
    """Lines of the journal that could not be believed; their pieces were done again."""
    failed: dict[str, str]
    """The sentences on the pieces that failed, by their keys."""


def deal(
    hands: Sequence[Sequence[str]],
    work: Callable[[str, Local], Any],
    transport: Local,
    journal: Journal | None = None,
    together: bool = False,
    watch: Callable[..., None] = lambda *done: None,
    lasts: Callable[[Any], bool] = lambda found: True,
    strict: bool = False,
) -> Dealt:
    """Do the pieces of work that the journal does not hold (collective).

    Parameters
    ----------
    hands : sequence of sequence of str
        The keys of the work; those of a hand go to one rank, one after the other.
    work : callable
        ``work(key, ranks)`` does a piece; what it gives is whole on rank 0 of these ranks.
    transport : Local
        The ranks.
    journal : Journal, optional
        Knows what was found before, and takes what is found now. A piece that fails is not written
        down, so that it is tried again.
    together : bool
        Whether all ranks do each piece together.
    watch : callable
        Called with the number of pieces that this rank has done, and how many it will do where
        that is known.
    lasts : callable
        Whether what was found is written down.
    strict : bool
        Whether an error ends all, when the ranks have done what is left; otherwise it is told with
        what was found.

    Raises
    ------
    MpinetError
        On all ranks: a piece failed, and this is strict.
    Suspended
        The run was asked to end, and what it needs to go on is written down.
    """
    # Rank 0 alone reads the journal: on network file systems other hosts may see different lines at
    # the same moment.
    known, damaged = journal.known() if journal and transport.rank == 0 else ({}, 0)
    passed = set(json.loads(transport.share(json.dumps([*known]).encode())))
    left = _left(hands, passed)
    count = sum(map(len, left))
    # A rank that draws pieces from the common pool cannot know how many of them will be its own.
    total = count if together or transport.size == 1 else None
    found, failed = dict[str, Any](), dict[str, str]()
    errors: list[MpinetError] = []
    for number in range(len(left)) if together else transport.dealt(len(left)):
        for key in left[number]:
            if not together and transport.wish == STOP:
                break  # all ranks stop together at the end of the dealing
            try:
                if together:
                    value = work(key, transport)
                else:
                    with alone():
                        value = work(key, Local())
            except Suspended:
                if together:
                    raise
                continue  # the other ranks stop, too, at the end of the dealing
            except MpinetError as error:
                if strict and together:
                    raise
                failed[key] = str(error)
                errors.append(error)
            else:
                found[key] = value
                # Of a piece that all ranks do together only rank 0 holds the whole result.
                if journal is not None and lasts(value) and (transport.rank == 0 or not together):
                    journal.write(key, value)
            watch(len(found) + len(failed), total)
            if together and transport.keeper is not None:
                transport.keeper.meet()
    # All ranks raise together, after the pool is empty: a rank that raised alone would leave the
    # others waiting.
    if strict and errors:
        transport.fail(errors[0])
    if together and transport.rank != 0:
        found = {}  # a part of a result on another rank is no result
    for text in transport.gather(json.dumps([found, failed]).encode()):
        some_found, some_failed = json.loads(text)
        known |= some_found
        failed |= some_failed
    return Dealt(known, count, damaged, failed)


def _left(hands: Sequence[Sequence[str]], passed: set[str]) -> list[list[str]]:
    """Return the hands without pieces that are known or in an earlier hand, and no empty hand."""
    left, passed = [], set(passed)
    for hand in hands:
        keys = [key for key in dict.fromkeys(hand) if key not in passed]
        # Two ranks would compute a key that stands in two hands, perhaps at the same time.
        passed.update(keys)
        if keys:
            left.append(keys)
    return left
