"""What a script's run came to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.process.mpi.accounts import Account, books
from mpinet.process.mpi.world import World
from mpinet.process.values import from_bytes, to_bytes

NAMED = 10
"""Most processors with unreceived messages that are named."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to; on ranks other than 0 without accounts.

    Attributes
    ----------
    processors, steps, hops : int
        Processors, steps of the machine, links that messages crossed.
    unreceived : int
        Messages that processors have ended without.
    unreceived_at : list of (int, int)
        The first processors with such messages, and how many each.
    accounts : list of Account
        What each kind of call cost on each line.
    """

    processors: int
    steps: int
    hops: int
    unreceived: int
    unreceived_at: list[tuple[int, int]]
    accounts: list[Account]


def outcome(world: World) -> Outcome:
    """Bring together what all ranks know (collective)."""
    machine, unreceived = world.machine, world.ends.unreceived
    left = np.flatnonzero(unreceived)
    left_at = list(zip(machine.nodes[left].tolist(), unreceived[left].tolist(), strict=True))
    own = (world.accounts.accounts, world.network.arrivals.booked, sorted(left_at)[:NAMED])
    told = [from_bytes(text) for text in machine.transport.gather(to_bytes(own))]
    shares, arrivals, places = zip(*told, strict=True) if told else ((), (), ())
    accounts = books(shares, arrivals)
    hops, total = machine.sum(sum(one.hops for one in accounts), int(unreceived.sum()))
    found = sorted(place for some in places for place in some)[:NAMED]
    return Outcome(world.size, world.network.now, hops, total, found, accounts)
