"""The books of a router on one rank: a record for kernels, whose numbers Python reads quickly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from mpinet.base.records import Record
from mpinet.machine.state import Fields, Largest, Same, Total


class Ledger(Record):
    """Counts of a router on this rank."""

    live: int
    """Messages in flight on this rank."""
    step: Annotated[int, Same]
    """Steps so far."""
    moved: int
    """Hops in the last pass."""
    ended: int
    """Messages that ended in the last pass."""
    delivered: Annotated[int, Total]
    """Messages delivered on this rank."""
    lost: Annotated[int, Total]
    """Messages of this rank that could not continue."""
    hops_total: Annotated[int, Total]
    """Hops of all messages together."""
    hops_max: Annotated[int, Largest]
    """Most hops of a delivered message."""
    queue_max: Annotated[int, Largest]
    """Most messages that waited at one processor in one step."""
    leaving: int
    """Messages that left their place in the last pass."""
    wrong: int
    """Routing error: `hop.UNWIRED_PORT`, `hop.ENDLESS`, or 0 for none."""
    wrong_message: int
    """Row of the message with the routing error."""
    unwired: Annotated[int, Largest]
    """1 if a message that needs consent to hop waits for an unwired port, else 0."""
    arrivals_seal: Annotated[int, Total]
    """Sum of the seals (`hop.seal`) of the messages delivered on this rank."""


def state_of(ledger: Ledger) -> Fields:
    """Return the fields of a ledger for a checkpoint."""
    values = {name: getattr(ledger, name) for name in Ledger.kept}
    return {
        name: one if Ledger.kept[name] is Same else Ledger.kept[name](one)
        for name, one in values.items()
    }


def restore(ledger: Ledger, found: Mapping[str, Any]) -> None:
    """Take over what `state_of` gave, on any number of ranks."""
    for name in Ledger.kept:
        setattr(ledger, name, found[name])
