"""The books of a router on one rank: a record for kernels, whose numbers Python reads quickly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from mpinet.base.records import Record
from mpinet.machine.state import Fields, Largest, Same, Total


class Ledger(Record):
    """Counts of a router on this rank."""

    live: int  # messages in flight here
    step: Annotated[int, Same]  # steps made
    moved: int  # hops of the last pass
    ended: int  # messages that ended in the last pass
    delivered: Annotated[int, Total]  # messages delivered here
    lost: Annotated[int, Total]  # messages that could not continue
    hops_total: Annotated[int, Total]  # hops of all messages
    hops_max: Annotated[int, Largest]  # most hops of one delivered message
    queue_max: Annotated[int, Largest]  # most messages that waited at one processor in one step
    leaving: int  # messages that left their place in the last pass
    wrong: int  # a routing error: `hop.UNWIRED_PORT`, `hop.ENDLESS`; 0: none
    wrong_message: int  # the row of the message with the error
    unwired: Annotated[int, Largest]  # 1 if a message that needs consent to hop waits for no link
    arrivals_seal: Annotated[int, Total]  # sum of the seals (`hop.seal`) of messages delivered here


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
