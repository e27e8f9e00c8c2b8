"""Rehearsal of ASCEND and DESCEND: one rank alone determines all its work and messages."""

from __future__ import annotations

import time

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.dry import Dry
from mpinet.programs.ascend import run
from mpinet.programs.operators import Operator
from mpinet.programs.rehearsal.rehearsal import Rehearsal, require_rehearsable
from mpinet.programs.schedules import find_schedule
from mpinet.programs.schedules.exchange import DimensionExchange


def rehearse_ascend(
    machine: Machine,
    dry: Dry,
    operator: Operator,
    kind: str,
    seed: int = 0,
    algorithm: str | None = None,
) -> Rehearsal:
    """Run one rank's part of an ASCEND or DESCEND program; every number is exact.

    The rank's own states stand in for its partners' states. This changes no count and no array
    length.

    Parameters
    ----------
    machine : Machine
        Machine on `dry`.
    operator, kind, seed, algorithm
        As in `mpinet.programs.ascend.run`.

    Raises
    ------
    UsageError
        Some dimension is not a single exchange over its own port, within a rank or between whole
        ranks.
    """
    require_rehearsable(machine, "ASCEND")
    ranks, size = dry.size, machine.topology.size
    direct = issubclass(find_schedule(machine.topology, algorithm), DimensionExchange)
    bits = range(size.bit_length() - 1)
    if not direct or any(machine.swap(bit, 1 << bit) is None for bit in bits):
        raise UsageError(
            f"predict supports {kind} by the algorithm exchange, with i and i XOR 2^j neighbours "
            f"on port j, on 2^k ranks, but not {machine.topology.name} on {ranks} ranks."
        )
    dry.arrivals = np.copy
    began = time.process_time()
    run(machine, operator, kind, seed, algorithm)
    meters = machine.meters
    every = {
        "all_messages": ranks * meters.crossed,
        "all_bytes": ranks * meters.crossed_bytes,
    }
    return Rehearsal.played(machine, dry, began, **every)
