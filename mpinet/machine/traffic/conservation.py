"""Checks at the end of a run of open-loop traffic: no message is lost, no channel is overfull."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel
from mpinet.errors import ConservationError
from mpinet.machine.machine import Machine
from mpinet.machine.traffic.layout import TrafficConstants, TrafficLedger, TrafficState

FATES = ("done", "lost", "cut", "withdrawn")
"""Fates of a message, as named in the ledger."""


def account(machine: Machine, ledger: TrafficLedger, left: Sequence[int]) -> dict[str, list[int]]:
    """Return the number of messages and flits by fate, over all ranks (collective).

    Parameters
    ----------
    left : sequence of int
        Unfinished messages on this rank, and their flits: at their sources, or with their tails in
        lanes.

    Returns
    -------
    dict
        Messages and flits: ``born``, ``delivered``, ``undeliverable``, ``cut``, ``withdrawn``,
        ``left``.

    Raises
    ------
    ConservationError
        A message was lost or duplicated.
    """
    names = ("born", *FATES)
    mine = [getattr(ledger, name) for name in (*names, *(f"{name}_flits" for name in names))]
    found = machine.sum(*mine, *left)
    messages, flits, left = found[: len(names)], found[len(names) : -2], found[-2:]
    for what, (born, *ends), rest in (("messages", messages, left[0]), ("flits", flits, left[1])):
        # Checked after every run: a lost or duplicated flit would make all averages wrong without
        # any other sign.
        if born != sum(ends) + rest:
            done, lost, cut, withdrawn = ends
            raise ConservationError(
                f"{born} {what} were generated, but {done} delivered, {lost} undeliverable, {cut} "
                f"cut, {withdrawn} withdrawn and {rest} waiting or in the network are "
                f"{sum(ends) + rest}."
            )
    called = ("born", "delivered", "undeliverable", "cut", "withdrawn")
    each = dict(zip(called, map(list, zip(messages, flits, strict=True)), strict=True))
    return each | {"left": list(left)}


def check_channels(
    machine: Machine, carried: Array, most: int, surplus: tuple[int, int], size: int
) -> None:
    """Check each channel's flits per step, and credits against buffers (collective).

    Parameters
    ----------
    carried, most
        Flits of each channel of this rank in the window, and the window's steps.
    surplus, size
        Excess of credits and flits over the buffers, number of channels with credits outside of
        0..size, and the size of a buffer in flits.

    Raises
    ------
    ConservationError
        A channel carried more than one flit per step, or credits do not agree with buffers.
    """
    # Credits plus buffered flits are constant per channel when nothing is on a wire; any leak shows
    # here.
    over, above, outside = machine.sum(int(np.count_nonzero(carried > most)), *surplus)
    if over:
        raise ConservationError(f"{over} channels carried more than {most} flits in {most} steps.")
    if outside or above:
        raise ConservationError(
            f"Credits and flits in buffers are {above} more than the buffers hold, and "
            f"{outside} virtual channels have credits outside of 0..{size}."
        )


@kernel
def count_tails(rules: TrafficConstants, state: TrafficState, found: Ints) -> None:
    """Add the number of messages in the network with their tail on this rank, and their flits."""
    lanes, ring, messages = state.lanes, state.ring, state.messages
    for row in range(lanes.size):
        lane = lanes[row]
        if row % rules.lanes >= rules.ports * rules.vcs:
            if lane.sent > 0:
                found[0], found[1] = found[0] + 1, found[1] + messages[lane.incoming].length
            continue
        sent, place = np.int64(lane.sent), np.int64(lane.first)
        for _ in range(lane.filled):
            # A message counts at its tail, so a message that stretches over several ranks counts
            # once.
            sent += 1
            length = messages[ring[row * rules.buffer + place]].length
            if sent == length:
                found[0], found[1], sent = found[0] + 1, found[1] + length, np.int64(0)
            place += 1
            if place == rules.buffer:
                place = np.int64(0)
