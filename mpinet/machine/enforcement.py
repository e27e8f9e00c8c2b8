"""Enforcement of the port model: errors of a step, with processor, port and rule.

Senders are checked before anything moves, receivers and busses afterwards. The rank that sees a
violation makes the check; `Machine.checked` raises the error on all ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Array, Counts, Ints
from mpinet.compiled import kernel
from mpinet.errors import ModelViolation, UsageError
from mpinet.machine.step import (
    Arrivals,
    Carrier,
    Sends,
    carry,
    first_of_transmission,
    gather_claims,
    in_order,
)
from mpinet.machine.stepping import PORTS_PER_WORD, WORD_BITS, Stepping

FINE, FOREIGN, NO_PORT, UNWIRED, TWICE, TOO_MANY = range(6)


def carry_checked(
    machine: Stepping,
    nodes: Any,
    ports: Any,
    payload: Array | None,
    listen: tuple[Any, Any] | None,
    word: int,
    exchange: Carrier,
) -> tuple[Sends, Arrivals, Ints | slice]:
    """Bring every message to its receiver's rank, under the port model (collective).

    Parameters
    ----------
    nodes, ports, payload, listen, word
        As in `Machine.step`.
    exchange : callable
        The exchange of the machine, or the unmetered exchange of its transport.

    Returns
    -------
    sends : Sends
        Sends of this rank's processors.
    arrivals : Arrivals
        Messages that arrived here, accepted or not.
    order : ndarray of int64 or slice
        Indices of the accepted arrivals, by receiver, then port.

    Raises
    ------
    ModelViolation
        On every rank, now or in its next collective.
    """
    # A violation is raised on all ranks: an error on one rank only would leave the others waiting
    # in the exchange.
    sends = machine.checked(lambda: check_sends(machine, nodes, ports))
    if payload is not None:
        machine.checked(lambda: check_payload(machine, sends, payload))
    arrivals = carry(machine, sends, payload, word, exchange)
    order = in_order(machine, arrivals, listen)
    machine.checked(lambda: check_received(machine, sends, arrivals, order))
    # On a bus two senders may be on different ranks; only a gathered list shows the conflict.
    if not machine.topology.links:
        transmissions = gather_transmissions(machine, sends)
        machine.checked(lambda: check_busses(machine, transmissions))
    return sends, arrivals, order


def check_sends(machine: Stepping, nodes: Any, ports: Any) -> Sends:
    """Look the sends up in the topology and check the senders' side of the port model.

    Raises
    ------
    UsageError
        The arrays have different lengths.
    ModelViolation
        A sender belongs to another rank, a port is unwired, or a port or processor sends too often.
    """
    nodes = np.ascontiguousarray(nodes, np.int64)
    ports = np.ascontiguousarray(ports, np.int64)
    if nodes.shape != ports.shape or nodes.ndim != 1:
        raise UsageError(
            f"Senders and ports must have the same length, not {nodes.shape} and {ports.shape}."
        )
    topology = machine.topology
    targets, arrivals = np.empty_like(nodes), np.empty_like(nodes)
    if len(nodes) == 0:
        return Sends(nodes, ports, targets, arrivals, nodes, 0)
    # Rejected first: rules and mappings are undefined for invalid numbers.
    if nodes.min() < 0 or nodes.max() >= topology.size:
        nobody = (nodes < 0) | (nodes >= topology.size)
        raise _sender_violation(machine, FOREIGN, int(nodes[nobody][0]), int(ports[nobody][0]))
    limit = machine.model.send if topology.links else None
    code, place = look_up_sends(
        topology.neighbor.native,
        topology.reverse_port.native,
        topology.params,
        nodes,
        ports,
        machine.placement.positions(nodes),
        machine.placement.first,
        machine.placement.count,
        -1 if limit is None else limit,
        machine.used_ports,
        machine.sent if limit is not None else machine.used_ports[:0],
        targets,
        arrivals,
    )
    if code != FINE:
        raise _sender_violation(machine, code, int(nodes[place]), int(ports[place]))
    if topology.links:
        return Sends(nodes, ports, targets, arrivals, nodes[:0], len(nodes))
    channels = topology.channel(nodes, ports)
    transmissions = _check_transmissions(machine, nodes, ports, channels)
    return Sends(nodes, ports, targets, arrivals, channels, transmissions)


@kernel
def look_up_sends(
    neighbor_rule: PortRule,
    reverse_rule: PortRule,
    params: Ints,
    nodes: Ints,
    ports: Ints,
    positions: Ints,
    first: int,
    count: int,
    limit: int,
    used: Counts,
    sent: Counts,
    targets: Ints,
    arrivals: Ints,
) -> tuple[int, int]:
    """Write the target of every send; return the first violation's code and index, or (FINE, 0).

    `used` has a bit for every port of the hosted processors, `sent` a count for each processor.
    Both are all zero before and after the call.
    """
    neighbor, reverse_port = neighbor_rule.call, reverse_rule.call
    words = (params[1] + PORTS_PER_WORD - 1) >> WORD_BITS
    code, done = FINE, 0
    for i in range(nodes.size):
        node, port, slot = nodes[i], ports[i], positions[i] - first
        if slot < 0 or slot >= count:
            code = FOREIGN
            break
        if port < 0 or port >= params[1]:
            code = NO_PORT
            break
        targets[i] = neighbor(node, port, params)
        if targets[i] < 0:
            code = UNWIRED
            break
        word = slot * words + (port >> WORD_BITS)
        bit = np.uint32(1 << (port & (PORTS_PER_WORD - 1)))
        # A bit set instead of a sort finds duplicates in linear time.
        if used[word] & bit:
            code = TWICE
            break
        if limit >= 0 and sent[slot] == limit:
            code = TOO_MANY
            break
        used[word] |= bit
        if limit >= 0:
            sent[slot] += np.uint32(1)
        arrivals[i] = reverse_port(node, port, params)
        done += 1
    # Only touched marks are reset. A step of few sends on a large machine stays cheap.
    for i in range(done):
        slot = positions[i] - first
        used[slot * words + (ports[i] >> WORD_BITS)] = np.uint32(0)
        if limit >= 0:
            sent[slot] = np.uint32(0)
    return code, done


def _sender_violation(machine: Stepping, code: int, node: int, port: int) -> ModelViolation:
    step = machine.next_step
    if code == FOREIGN:
        return ModelViolation(
            f"Step {step}: processor {node} is not hosted by rank {machine.placement.rank}, which "
            "called its send. A rank may send from its own processors only."
        )
    rule = {
        NO_PORT: f"there are only ports 0..{machine.topology.ports - 1}",
        UNWIRED: "this port is not wired",
        TWICE: "a channel carries one message per direction in a step",
        TOO_MANY: f"a processor sends at most {machine.model.send} message(s) in a step",
    }[code]
    return ModelViolation(f"Step {step}: processor {node} sends on port {port}: {rule}.")


def _check_transmissions(machine: Stepping, nodes: Ints, ports: Ints, channels: Ints) -> int:
    """Check the number of busses used by each processor; return the number of transmissions."""
    order = np.lexsort((channels, nodes))
    starts = np.ones(len(nodes), bool)
    starts[1:] = (np.diff(nodes[order]) != 0) | (np.diff(channels[order]) != 0)
    senders = nodes[order][starts]
    limit = machine.model.send
    if limit is not None and len(senders) > limit:
        over = np.flatnonzero(senders[limit:] == senders[:-limit])
        if len(over):
            at = order[np.flatnonzero(starts)[over[0] + limit]]
            raise _sender_violation(machine, TOO_MANY, int(nodes[at]), int(ports[at]))
    return int(starts.sum())


def check_payload(machine: Stepping, sends: Sends, payload: Array) -> None:
    """Check for one message per send, and for equal messages on all ports of a bus.

    Raises
    ------
    UsageError
        There are more or fewer messages than sends.
    ModelViolation
        A processor puts different messages on one bus.
    """
    require_messages(len(sends.nodes), payload)
    if machine.topology.links or payload.nbytes == 0:
        return
    # Members of a bus hear one transmission, so messages on its ports must agree byte by byte.
    order = np.lexsort((sends.channels, sends.nodes))
    nodes, channels = sends.nodes[order], sends.channels[order]
    texts = np.ascontiguousarray(payload[order]).view(np.uint8).reshape(len(nodes), -1)
    same_bus = (np.diff(nodes) == 0) & (np.diff(channels) == 0)
    different = same_bus & (texts[1:] != texts[:-1]).any(axis=1)
    if different.any():
        at = order[np.flatnonzero(different)[0] + 1]
        raise ModelViolation(
            f"Step {machine.next_step}: processor {sends.nodes[at]} sends on port "
            f"{sends.ports[at]}: sends on several ports of bus {sends.channels[at]} are one "
            "transmission and must carry one message."
        )


def require_messages(sends: int, payload: Array) -> None:
    """Raise `UsageError` unless there is a message for every send."""
    if len(payload) != sends:
        raise UsageError(f"Give one message per send: sends {sends}, messages {len(payload)}.")


def check_received(
    machine: Stepping, sends: Sends, arrivals: Arrivals, order: Ints | slice
) -> None:
    """Check the receivers' side of the port model.

    Parameters
    ----------
    arrivals : Arrivals
        Messages that arrived here, accepted or not: a link has carried all of them.
    order : ndarray of int64 or slice
        Indices of the accepted messages, by receiver.

    Raises
    ------
    ModelViolation
        A receiver accepts too many messages, or a half-duplex link carries two.
    """
    limit = machine.model.receive
    if limit is not None:
        nodes = arrivals.nodes[order]
        # Arrivals are sorted by receiver: a limit of k is violated if entry i equals entry i - k.
        over = np.flatnonzero(nodes[limit:] == nodes[:-limit]) + limit
        if len(over):
            raise ModelViolation(
                f"Step {machine.next_step}: processor {nodes[over[0]]} receives on port "
                f"{arrivals.ports[order][over[0]]}: a processor accepts at most {limit} message(s) "
                "in a step."
            )
    if machine.model.half_duplex:
        ports = machine.topology.ports
        came = arrivals.nodes * ports + arrivals.ports
        both = np.intersect1d(came, sends.nodes * ports + sends.ports)
        if len(both):
            node, port = divmod(int(both[0]), ports)
            raise ModelViolation(
                f"Step {machine.next_step}: processor {node} sends and receives on port {port}: a "
                "half-duplex link carries one message in a step."
            )


def gather_transmissions(machine: Stepping, sends: Sends) -> Ints:
    """Gather the transmissions on busses with a member on this rank (collective).

    Every member hears a transmission, so each rank with a member of the bus is informed.

    Returns
    -------
    ndarray of int64, shape (m, 2)
        Rows (sender, bus).
    """
    pairs = np.stack([sends.nodes, sends.channels], axis=1)
    return gather_claims(machine, pairs[first_of_transmission(sends)])


def check_busses(machine: Stepping, transmissions: Ints) -> None:
    """Check that every bus carries at most one of the transmissions known here.

    Raises
    ------
    ModelViolation
        Two members of one bus send in the same step.
    """
    senders, channels = transmissions.T
    order = np.lexsort((senders, channels))
    senders, channels = senders[order], channels[order]
    clash = (np.diff(channels) == 0) & (np.diff(senders) != 0)
    if clash.any():
        at = int(np.flatnonzero(clash)[0])
        port = _port_on(machine, int(senders[at + 1]), int(channels[at]))
        raise ModelViolation(
            f"Step {machine.next_step}: processor {senders[at + 1]} sends on port {port}: bus "
            f"{channels[at]} carries one transmission in a step, and processor {senders[at]} "
            "also sends on this bus."
        )


def _port_on(machine: Stepping, node: int, channel: int) -> int:
    """Return the lowest port of a processor on a bus."""
    topology = machine.topology
    wired = [port for port in range(topology.ports) if topology.neighbor(node, port) >= 0]
    return next(port for port in wired if topology.channel(node, port) == channel)
