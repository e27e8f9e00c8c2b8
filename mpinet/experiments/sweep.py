"""Playing the points of a sweep: ranks take them one after the other, or all play each together.

What is found does not depend on who plays what, only the time does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mpinet.errors import MpinetError, Suspended
from mpinet.experiments.journal import Rows
from mpinet.machine.transport import Local, alone

Row = dict[str, Any]


@dataclass(frozen=True)
class Played:
    """What a sweep has come to, on rank 0.

    Attributes
    ----------
    rows : dict
        The rows of the points by their hashes, of those that are there.
    computed : int
        How many points were played this time.
    damaged : int
        Lines of the journal that could not be believed; their points were played again.
    failed : dict
        The sentences on the points that failed, by their hashes.
    """

    rows: dict[str, list[Row]]
    computed: int
    damaged: int
    failed: dict[str, str]


def play(
    keys: Sequence[str],
    run: Callable[[int, Local], list[Row]],
    transport: Local,
    journal: Rows | None = None,
    together: bool = False,
    watch: Callable[..., None] = lambda *done: None,
) -> Played:
    """Play the points that the journal does not know (collective).

    Parameters
    ----------
    keys : sequence of str
        The points' hashes.
    run : callable
        ``run(number, transport)``: the rows of a point, whole on rank 0 of these ranks.
    transport : Local
        The ranks.
    journal : Rows, optional
        Knows rows of earlier runs, and takes the new ones. One that fails is not written down, so
        that it is tried again.
    together : bool
        Whether all ranks play each point together, on a machine that is spread over them.
    watch : callable
        Called with the number of points that this rank has played, and how many it will play
        where that is known.
    """
    known, damaged = journal.known() if journal and transport.rank == 0 else ({}, 0)
    there = set(json.loads(transport.share(json.dumps([*known]).encode())))
    first = {key: number for number, key in reversed([*enumerate(keys)])}
    left = [number for number in sorted(first.values()) if keys[number] not in there]
    found: dict[str, list[Row]] = {}
    failed: dict[str, str] = {}
    total = len(left) if together or transport.size == 1 else None
    for number in left if together else _dealt(left, transport):
        try:
            if together:
                with transport.unkept():
                    rows = run(number, transport)
            else:
                with alone():
                    rows = run(number, Local())
        except Suspended:
            continue  # the others end, too, when they meet
        except MpinetError as error:
            failed[keys[number]] = str(error)
        else:
            found[keys[number]] = rows
            if journal is not None and (transport.rank == 0 or not together):
                journal.write(keys[number], rows)
        watch(len(found) + len(failed), total)
        if together and transport.keeper:
            transport.keeper.meet()
    if together and transport.rank != 0:
        found = {}  # a rank's part of a result is no result
    gathered = transport.gather(json.dumps([found, failed]).encode())
    for text in gathered:
        some_found, some_failed = json.loads(text)
        known |= some_found
        failed |= some_failed
    return Played(known, len(left), damaged, failed)


def _dealt(left: Sequence[int], transport: Local) -> Any:
    """This rank's share of the points, the next one when it is ready."""
    return (left[place] for place in transport.dealt(len(left)))
