"""Items that are in one place at a time, moved as a timetable says: scatter, gather, exchange."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.state import Frame, Located
from mpinet.programs.schedules.timetable import Part, Timetable


def carry(
    machine: Machine, timetable: Timetable, slots: Ints, rows: Ints, number: int
) -> tuple[Ints, Ints]:
    """Move items as a timetable says, each of which is in one place at a time (collective).

    Parameters
    ----------
    timetable : Timetable
        The same on all ranks; a chunk is an item.
    slots : ndarray of int64, shape (k,)
        Who of this rank's nodes have items at the start.
    rows : ndarray of int64, shape (k, 2)
        The items that they have, and their contents.
    number : int
        Items that there are on all ranks, numbered from 0.

    Returns
    -------
    nodes : ndarray of int64, shape (m,)
        This rank's nodes that have items in the end, one for each.
    rows : ndarray of int64, shape (m, 2)
        What they have.
    """
    part = Part(machine, timetable)
    chunks = timetable.chunk[part.index]
    place = np.full(number, -1, np.int64)
    contents = np.full_like(place, -1)
    place[rows[:, 0]], contents[rows[:, 0]] = slots, rows[:, 1]
    done = 0

    def held() -> Ints:
        here = np.flatnonzero(place >= 0)
        return np.stack([machine.nodes[place[here]], here, contents[here]], axis=1)

    def restore(found: Mapping[str, Any]) -> None:
        nonlocal done
        nodes, here, inside = found["held"].T
        place[:] = -1
        place[here], contents[here], done = machine.slots(nodes), inside, found["done"]

    with Frame(machine, "carry", lambda: {"done": done, "held": Located(held())}, restore) as frame:
        while done < timetable.last:
            done += 1
            sends = part.sends(done)
            senders, sent = part.slots[sends], chunks[sends]
            payload = np.stack([sent, np.where(place[sent] == senders, contents[sent], -1)], axis=1)
            place[sent] = -1
            inbox = machine.step(machine.nodes[senders], part.ports[sends], payload)
            came, inside = inbox.payload.T
            place[came], contents[came] = machine.slots(inbox.nodes), inside
            frame.boundary()
    ended = held()
    return ended[:, 0], ended[:, 1:]
