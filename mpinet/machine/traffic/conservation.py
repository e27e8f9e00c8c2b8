"""Checks at the end of a run of open-loop traffic: nothing is lost, no channel is overfull."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mpinet.errors import ConservationError

if TYPE_CHECKING:
    from mpinet.machine.traffic.run import OpenLoop


def check_messages(run: OpenLoop) -> None:
    """Check that every generated message is accounted for once (collective).

    Raises
    ------
    ConservationError
        A message was lost or doubled.
    """
    ledger = run.ledger
    counts = (int(each) for each in (ledger.born, ledger.done, ledger.lost, ledger.withdrawn))
    born, done, lost, withdrawn, left = run.machine.sum(*counts, run.tails_inside + run.waiting)
    if born != done + lost + withdrawn + left:
        raise ConservationError(
            f"{born} messages were generated, but {done} delivered, {lost} undeliverable, "
            f"{withdrawn} withdrawn and {left} waiting or in the network are "
            f"{done + lost + withdrawn + left}."
        )


def check_channels(run: OpenLoop) -> None:
    """Check each channel's flits per step, and credits against buffers (collective).

    Raises
    ------
    ConservationError
        A channel carried more than a flit a step, or credits do not agree with buffers.
    """
    most, size = run.window.steps, run.buffering.buffers
    over = int(np.count_nonzero(run.carried() > most))
    over, surplus, outside = run.machine.sum(over, *run.surplus)
    if over:
        raise ConservationError(f"{over} channels carried more than {most} flits in {most} steps.")
    if outside or surplus:
        raise ConservationError(
            f"Credits and flits in buffers are {surplus} more than the buffers hold, and "
            f"{outside} virtual channels have credits that are not in 0..{size}."
        )
