"""What a run of mpinet's router tells, in the form of the brute-force router's outcome."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from mpinet.machine.machine import Machine
from mpinet.machine.router import Router

Everyone = Callable[[Any], list[Any]]
"""Gives what all ranks have, rank 0 first."""


def alone(mine: Any) -> list[Any]:
    """`Everyone` for one rank."""
    return [mine]


def together(everyone: Everyone, mine: list[Any]) -> list[Any]:
    """The lists of all ranks as one, in order."""
    return sorted(item for theirs in everyone(mine) for item in theirs)


def moves_of(machine: Machine) -> list[tuple[int, ...]]:
    """The records of this rank's trace."""
    return [tuple(record) for record in machine.trace.records.tolist()]


def loads_of(machine: Machine) -> list[tuple[int, int, int]]:
    """Rows (node, port, messages) of this rank's used ports."""
    loads = machine.meters.loads.reshape(len(machine.nodes), machine.topology.ports)
    used = zip(*np.nonzero(loads), strict=True)
    return [(int(machine.nodes[slot]), int(port), int(loads[slot, port])) for slot, port in used]


def outcome_of(router: Router, everyone: Everyone = alone) -> dict[str, Any]:
    """All that the router can tell (collective); compare `BruteForceRouter.outcome`."""
    machine, delivered = router.machine, router.delivered
    columns = (delivered.numbers, delivered.nodes, delivered.hops, delivered.steps)
    totals, latencies = router.totals, router.latencies.tolist()
    outcome = {
        "delivered": together(everyone, list(zip(*map(np.ndarray.tolist, columns), strict=True))),
        "undeliverable": together(everyone, [tuple(row) for row in router.undeliverable.tolist()]),
        "moves": together(everyone, moves_of(machine)),
        "steps": machine.steps,
        "messages": machine.messages,
        "hops_max": totals["hops_max"],
        "queue_max": totals["queue_max"],
        "latencies": {steps: count for steps, count in enumerate(latencies) if count},
        "loads": {(node, port): n for node, port, n in together(everyone, loads_of(machine))},
    }
    assert totals["delivered"] == len(outcome["delivered"]) == sum(latencies)
    assert totals["undeliverable"] == len(outcome["undeliverable"])
    assert totals["hops_total"] == Counter(outcome["loads"]).total() == outcome["messages"]
    return outcome
