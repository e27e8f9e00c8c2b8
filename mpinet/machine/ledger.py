"""The ledger of a router on one rank, and the checkpoint fields of any engine's ledger."""

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
    """Sum of the hops of all messages."""
    hops_max: Annotated[int, Largest]
    """Largest number of hops of a delivered message."""
    queue_max: Annotated[int, Largest]
    """Largest number of messages waiting at one processor in one step."""
    leaving: int
    """Messages that left the array in the last pass."""
    wrong: int
    """Routing error: `hop.UNWIRED_PORT`, `hop.ENDLESS`, or 0 for none."""
    wrong_message: int
    """Row of the message with the routing error."""
    unwired: Annotated[int, Largest]
    """1 if a message waits for an unwired port and the arbiter's consent, else 0."""
    arrivals_seal: Annotated[int, Total]
    """Sum of the seals (`hop.seal`) of the messages delivered on this rank."""


def state_of(ledger: Any, record: type[Record]) -> Fields:
    """Return the checkpoint fields of an engine's ledger, by the annotations of its record."""
    values = {name: getattr(ledger, name) for name in record.kept}
    return {
        name: values[name] if mark is Same else mark(values[name])
        for name, mark in record.kept.items()
    }


def restore(ledger: Any, record: type[Record], found: Mapping[str, Any]) -> None:
    """Restore a ledger from the fields of `state_of`, on any number of ranks."""
    for name, mark in record.kept.items():
        # Seals are sums modulo 2^61: the seals of nine or more ranks may together exceed 63 bits.
        value = found[name] % (1 << 63) if mark is Total else found[name]
        setattr(ledger, name, value)
