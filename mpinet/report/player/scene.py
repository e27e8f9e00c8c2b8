"""Contents of a player's page as compact arrays: positions, channels, movements and queues.

Large networks are shown as groups of nodes (`mpinet.report.player.places`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import MpinetError
from mpinet.networks import open as open_topology
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.topology import Topology
from mpinet.report.player.places import places_of
from mpinet.report.recordings import Recording, in_steps
from mpinet.report.shapes import nearest

MOST_LINKS = 60_000
"""Largest number of drawn links without movements."""

MOST_CALLS = 200_000
"""Largest number of shown calls; the first calls are shown."""

COLOURS = 8
"""Number of colours of messages; `PLAIN` is the colour of messages without numbers."""

PLAIN = 255

INFORMING = ("broadcast", "flood", "run", "exec")
"""Commands for which informed nodes are marked, if the run starts at one node."""


def scene(recording: Recording, pauses: Sequence[int] = ()) -> dict[str, Any]:
    """Return all data for the page's script; playback stops at the steps in `pauses`."""
    recording = in_steps(recording)
    header, moves = recording.header, recording.moves
    network = known(header["topology"], header["nodes"])
    moved = np.stack([moves["sender"], moves["receiver"]], axis=1)
    shown_as = places_of(network, header["nodes"], moved)
    groups, places = shown_as.groups, shown_as.points
    senders, receivers = groups[moves["sender"]], groups[moves["receiver"]]
    shown = len(places)
    channels, channel = np.unique(senders * shown + receivers, return_inverse=True)
    steps = header["steps"]
    first = np.searchsorted(moves["step"], np.arange(steps + 2))
    numbers, message = np.unique(moves["message"], return_inverse=True)
    unnumbered = moves["message"] < 0
    node, begin, end = waits(recording)
    at, event = _queue_events(groups[node], begin, end)
    links = _links(network, groups, channels, shown)
    drawn = _evenly(links, MOST_LINKS)
    ways = np.stack([channels // max(shown, 1), channels % max(shown, 1)], axis=1)
    informed = informed_at(recording)
    # Nodes in the order in which they are informed. The page draws any step from a prefix of this
    # list.
    learnt = np.argsort(informed, kind="stable") if informed is not None else np.zeros(0, int)
    learnt = learnt[informed[learnt] <= steps] if informed is not None else learnt
    pattern = [str(header["pattern"])] if header.get("pattern") else []
    calls = {name: column[:MOST_CALLS] for name, column in recording.calls.items()}
    return {
        "title": " ".join([header["command"], *pattern, "on", header["topology"]]),
        "nodes": header["nodes"],
        "shown": shown,
        "steps": steps,
        "step": header.get("step"),
        "moves": len(moves["step"]),
        "numbered": bool(len(numbers) and not unnumbered.all()),
        "recorded": header.get("recorded"),
        "sites": [site[0] for site in header["sites"]],
        "x": packed(places[:, 0].astype("<f4")),
        "y": packed(places[:, 1].astype("<f4")),
        "group": packed(small(groups)) if shown < header["nodes"] else None,
        "gap": nearest(places),
        "pauses": sorted(set(pauses)),
        "links": packed(small(drawn.reshape(-1))),
        "omitted": len(links) - len(drawn),
        "stubs": packed(shown_as.stubs(drawn).reshape(-1).astype("<f4")),
        "from": packed(small(ways[:, 0])),
        "to": packed(small(ways[:, 1])),
        "ways": packed(shown_as.stubs(ways).reshape(-1).astype("<f4")),
        "hosts": header["hosts"],
        "members": packed(small(np.bincount(groups, minlength=shown))),
        "informs": informed is not None,
        "learnt": packed(small(groups[learnt])),
        "learntHost": packed((learnt < header["hosts"]).astype("u1")),
        "learntBy": packed(_upto(informed, learnt, steps)),
        "first": packed(first.astype("<u4")),
        "channel": packed(small(channel)),
        "colour": packed(np.where(unnumbered, PLAIN, message % COLOURS).astype("u1")),
        "queued": packed(np.searchsorted(at, np.arange(steps + 3)).astype("<u4")),
        "queue": packed(small(event)),
        "callers": packed(small(groups[calls["call_processor"]])),
        "begins": packed(small(calls["call_begin"])),
        "ends": packed(small(calls["call_end"])),
        "callsites": packed(small(calls["call_site"])),
    }


def known(name: str, nodes: int) -> Topology | None:
    """Open the recording's network if mpinet has its family, but never a file."""
    families = [factor.strip().partition(":")[0] for factor in name.split("*")]
    if any(family not in FAMILIES or family == "graph" for family in families):
        return None
    try:
        network = open_topology(name)
    except MpinetError:
        return None
    return network if network.size == nodes else None


def _links(network: Topology | None, groups: Ints, channels: Ints, shown: int) -> Ints:
    """Return links between groups, shape (k, 2): the network's, or channels with movements."""
    ends = np.stack([channels // max(shown, 1), channels % max(shown, 1)], axis=1)
    if network is not None and network.size * network.ports <= 1 << 22:
        from mpinet.measure.wiring import edges

        ends = groups[edges(network)]
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    between: Ints = ends[ends[:, 0] != ends[:, 1]]
    return between


def _evenly(links: Ints, most: int) -> Ints:
    """Return all links, or at most `most` of them at equal distances in the list."""
    if len(links) <= most:
        return links
    return links[np.linspace(0, len(links) - 1, most).astype(np.int64)]


def informed_at(recording: Recording) -> Ints | None:
    """Return the step in which each node is first informed; 0 for the node that starts.

    A node that is never informed gets a step after the last step. The result is None if the run
    does not inform from one node, or is recorded in part.

    Parameters
    ----------
    recording : Recording
        The recording.
    """
    header, moves = recording.header, recording.moves
    limits = header.get("recorded") or {}
    # In a partial recording, the first recorded message of a node may not be the first that it got.
    if header["command"] not in INFORMING or any(limits.values()) or not len(moves["step"]):
        return None
    never = header["steps"] + 1
    told, sent = (np.full(header["nodes"], never) for _ in range(2))
    np.minimum.at(told, moves["receiver"], moves["step"])
    np.minimum.at(sent, moves["sender"], moves["step"])
    began = np.flatnonzero((sent < never) & (told >= sent))
    if len(began) != 1:
        return None
    told[began] = 0
    return told


def _upto(informed: Ints | None, learnt: Ints, steps: int) -> Array:
    """Return the number of informed nodes after each step 0..steps."""
    if informed is None:
        return np.zeros(steps + 1, "<u4")
    return np.searchsorted(informed[learnt], np.arange(1, steps + 2)).astype("<u4")


def waits(recording: Recording) -> tuple[Ints, Ints, Ints]:
    """Return waits of numbered messages between hops: the node, and the steps begin..end-1.

    Messages of a routed pattern exist before the first step, so they also wait at their sources.
    """
    moves = recording.moves
    numbered = np.flatnonzero(moves["message"] >= 0)
    # Sorted by message, then step: the wait before a hop is the gap to the previous row.
    order = numbered[np.lexsort((moves["step"][numbered], moves["message"][numbered]))]
    message, step = moves["message"][order], moves["step"][order]
    node, fresh = moves["sender"][order], np.ones(len(order), bool)
    fresh[1:] = message[1:] != message[:-1]
    begin = np.empty(len(order), np.int64)
    begin[1:] = step[:-1] + 1
    begin[fresh] = 1 if recording.header["command"] == "route" else step[fresh]
    waited = begin < step
    return node[waited], begin[waited], step[waited]


def _queue_events(groups: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the steps at which queues change, and events: 2 * group, plus 1 for leaving."""
    at = np.concatenate([begin, end])
    event = np.concatenate([2 * groups, 2 * groups + 1])
    order = np.argsort(at, kind="stable")
    return at[order], event[order]


def small(numbers: Ints) -> Array:
    """Convert non-negative integers to the smallest type that holds all of them."""
    # Recordings have millions of entries, most of which fit into one or two bytes.
    most = int(numbers.max(initial=0))
    kinds: list[tuple[int, str]] = [(1 << 8, "u1"), (1 << 16, "<u2"), (1 << 32, "<u4")]
    return numbers.astype(next((kind for limit, kind in kinds if most < limit), "<f8"))


def packed(numbers: Array, code: Callable[[bytes], bytes] = b64encode) -> list[str]:
    """Pack an array for the script: its kind, and its bytes as text."""
    return [numbers.dtype.str.lstrip("<|"), code(numbers.tobytes()).decode()]
