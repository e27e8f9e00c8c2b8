"""Checks at the end of a run of open-loop traffic: nothing is lost, no channel is overfull."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array
from mpinet.compiled import kernel
from mpinet.errors import ConservationError
from mpinet.machine.machine import Machine
from mpinet.machine.traffic.layout import Ledger, Rules, State


def check_messages(machine: Machine, ledger: Ledger, left: int) -> None:
    """Check that every generated message is accounted for once (collective).

    Parameters
    ----------
    left : int
        Messages on this rank that are not done: at their sources, or with their tails in lanes.

    Raises
    ------
    ConservationError
        A message was lost or doubled.
    """
    counts = (int(each) for each in (ledger.born, ledger.done, ledger.lost, ledger.withdrawn))
    born, done, lost, withdrawn, left = machine.sum(*counts, left)
    if born != done + lost + withdrawn + left:
        raise ConservationError(
            f"{born} messages were generated, but {done} delivered, {lost} undeliverable, "
            f"{withdrawn} withdrawn and {left} waiting or in the network are "
            f"{done + lost + withdrawn + left}."
        )


def check_channels(
    machine: Machine, carried: Array, most: int, surplus: tuple[int, int], size: int
) -> None:
    """Check each channel's flits per step, and credits against buffers (collective).

    Parameters
    ----------
    carried, most
        Flits of each channel of this rank in the window, and the window's steps.
    surplus, size
        What credits and flits are above the buffers, channels with credits outside of 0..size, and
        the size of a buffer in flits.

    Raises
    ------
    ConservationError
        A channel carried more than a flit a step, or credits do not agree with buffers.
    """
    over, above, outside = machine.sum(int(np.count_nonzero(carried > most)), *surplus)
    if over:
        raise ConservationError(f"{over} channels carried more than {most} flits in {most} steps.")
    if outside or above:
        raise ConservationError(
            f"Credits and flits in buffers are {above} more than the buffers hold, and "
            f"{outside} virtual channels have credits that are not in 0..{size}."
        )


@kernel
def count_tails(rules: Rules, state: State) -> int:
    """Number of messages that have entered and whose tail is on this rank."""
    lanes, ring, messages = state.lanes, state.ring, state.messages
    tails = 0
    for row in range(lanes.size):
        lane = lanes[row]
        if row % rules.lanes >= rules.ports * rules.vcs:
            tails += lane.sent > 0
            continue
        sent, place = np.int64(lane.sent), np.int64(lane.first)
        for _ in range(lane.filled):
            sent += 1
            if sent == messages[ring[row * rules.buffer + place]].length:
                tails, sent = tails + 1, np.int64(0)
            place += 1
            if place == rules.buffer:
                place = np.int64(0)
    return tails
