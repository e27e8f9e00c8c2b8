"""Distribution of work to ranks: each piece runs on one rank alone, or on all ranks together.

Results are recorded immediately, so stopped work can be resumed. The assignment of pieces to ranks
affects only the time, not the results. Sweeps, verifications and traffic curves are distributed
here.
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
    """Results of distributed work, on rank 0."""

    found: dict[str, Any]
    """Results of the pieces by key, of this run and earlier runs; values have JSON types."""
    computed: int
    """Number of pieces computed by this run."""
    damaged: int
    """Number of damaged lines in the journal; their pieces were computed again."""
    failed: dict[str, str]
    """Error messages of the failed pieces, by key."""


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
    """Compute all pieces of work without a result in the journal (collective).

    Parameters
    ----------
    hands : sequence of sequence of str
        Groups of keys; all pieces of a group run on the same rank, one after the other.
    work : callable
        ``work(key, ranks)`` computes a piece; its result is complete on rank 0 of these ranks.
    transport : Local
        The ranks.
    journal : Journal, optional
        Holds earlier results, and receives the new results. A failed piece is not recorded, so a
        later run tries it again.
    together : bool
        True if all ranks compute each piece together.
    watch : callable
        Called with the number of pieces done by this rank, and their total number, if known.
    lasts : callable
        Function that returns True for results to be recorded.
    strict : bool
        True if an error ends the run, after the ranks have finished the remaining pieces. Otherwise
        errors are returned with the results.

    Raises
    ------
    MpinetError
        A piece failed, and `strict` is true; raised on all ranks.
    Suspended
        The run was asked to end, and everything needed to resume it is recorded.
    """
    # Only rank 0 reads the journal: on network file systems other hosts may see different lines at
    # the same moment.
    known, damaged = journal.known() if journal and transport.rank == 0 else ({}, 0)
    passed = set(json.loads(transport.share(json.dumps([*known]).encode())))
    left = _left(hands, passed)
    count = sum(map(len, left))
    # A rank that draws pieces from the common pool cannot know how many pieces it will get.
    total = count if together or transport.size == 1 else None
    found, failed = dict[str, Any](), dict[str, str]()
    errors: list[MpinetError] = []
    for number in range(len(left)) if together else transport.dealt(len(left)):
        for key in left[number]:
            if not together and transport.wish == STOP:
                break  # all ranks stop together at the end
            try:
                if together:
                    value = work(key, transport)
                else:
                    with alone():
                        value = work(key, Local())
            except Suspended:
                if together:
                    raise
                continue  # all other ranks also stop at the end
            except MpinetError as error:
                if strict and together:
                    raise
                failed[key] = str(error)
                errors.append(error)
            else:
                found[key] = value
                # If all ranks compute a piece together, only rank 0 has the complete result.
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
        found = {}  # partial results on other ranks are discarded
    for text in transport.gather(json.dumps([found, failed]).encode()):
        some_found, some_failed = json.loads(text)
        known |= some_found
        failed |= some_failed
    return Dealt(known, count, damaged, failed)


def _left(hands: Sequence[Sequence[str]], passed: set[str]) -> list[list[str]]:
    """Return the groups without known or repeated pieces, and without empty groups."""
    left, passed = [], set(passed)
    for hand in hands:
        keys = [key for key in dict.fromkeys(hand) if key not in passed]
        # Without this, two ranks would compute a key that is in two groups, perhaps at the same
        # time.
        passed.update(keys)
        if keys:
            left.append(keys)
    return left
