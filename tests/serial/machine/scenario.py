"""One run of traffic on a small network, for mpinet's router and for the brute-force one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from serial.machine.busgrid import BusGrid, bus_grid_wiring, bus_of
from serial.machine.outcome import Everyone, alone, outcome_of
from serial.machine.reference import (
    BruteForceRouter,
    Medium,
    Way,
    direction,
    link,
    lowest_closer_port,
    until_fault,
)
from serial.networks.reference import EVERYTHING, Wiring, distances

import mpinet
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.placement import Mapping
from mpinet.machine.router import Router
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology


@dataclass
class Network:
    """A topology, and its wiring from elsewhere; ways take the lowest port that leads closer."""

    topology: Topology
    wiring: Wiring
    bus: Medium | None = None
    media: int | None = None  # how many busses

    def __post_init__(self) -> None:
        self.distance = distances(self.wiring)

    def way(self, source: int, target: int) -> Way:
        return lowest_closer_port(self.wiring, self.distance, source, target)


def classic(name: str) -> Network:
    """A classic network; its own routing must take the lowest port that leads closer."""
    return Network(mpinet.open(name), EVERYTHING[name])


def bus_grid(rows: int, columns: int) -> Network:
    """A network of busses."""
    return Network(
        BusGrid(rows, columns),
        bus_grid_wiring(rows, columns),
        bus=lambda hop: bus_of(hop, rows, columns),
        media=rows + columns,
    )


@dataclass
class Scenario:
    """Batches of messages (source, target); between two batches are `pause` steps."""

    network: Network
    batches: list[list[tuple[int, int]]]
    send: int | None = None
    receive: int | None = None
    half_duplex: bool = False
    mode: str = "queued"
    policy: str = "oldest"
    pause: int = 2
    dead: tuple[int, ...] = ()
    cut: tuple[tuple[int, int], ...] = ()

    def expected(self) -> dict[str, Any]:
        """The outcome by brute force."""
        router = BruteForceRouter(
            medium=self.network.bus or (link if self.half_duplex else direction),
            one_send=self.send == 1,
            one_receive=self.receive == 1,
            fifo=self.policy == "fifo",
            ideal=self.mode == "ideal",
        )
        stuck, number = [], 0
        cut = set(map(frozenset, self.cut))
        for batch in self.batches:
            ways = []
            for source, target in batch:
                way = self.network.way(source, target)
                way, is_stuck = until_fault(source, way, set(self.dead), cut)
                ways.append(way)
                stuck += [number] * is_stuck
                number += 1
            router.inject(ways)
            for _ in range(self.pause):
                router.step()
        router.run()
        outcome = router.outcome([source for batch in self.batches for source, _ in batch], stuck)
        outcome["load_max"] = router.busiest()
        outcome["load_mean"] = outcome["messages"] / self._media()
        return outcome

    def _media(self) -> int:
        ends = sum(v is not None for ports in self.network.wiring for v in ports)
        return self.network.media or (ends // 2 if self.half_duplex else ends)

    def measured(
        self,
        transport: Local | None = None,
        mapping: Mapping | None = None,
        everyone: Everyone = alone,
    ) -> dict[str, Any]:
        """The outcome on the machine (collective)."""
        topology = self.network.topology
        model = PortModel(self.send, self.receive, self.half_duplex)
        machine = Machine(topology, model, transport, mapping, loads=True, trace=Trace())
        router = Router(
            machine,
            topology.routing(),
            self.mode,
            self.policy,
            Faults(topology, self.dead, self.cut),
            payload_words=2,
            keep=True,
        )
        for batch in self.batches:
            inject(router, batch)
            for _ in range(self.pause):
                router.step()
        router.run()
        assert carries_its_ends(router, self.batches)
        load = machine.channel_load()
        return outcome_of(router, everyone) | {"load_max": load.max, "load_mean": load.mean}


def inject(router: Router, batch: list[tuple[int, int]]) -> None:
    """Let every rank inject its processors' messages; each carries its ends if it has room."""
    ends = np.array(batch, np.int64).reshape(-1, 2)
    mine = np.flatnonzero(np.isin(ends[:, 0], router.machine.nodes))
    sources, targets = ends[mine].T.copy()
    payload = ends[mine] if router.payload_words else None
    router.inject(sources, targets, mine, len(ends), payload)


def carries_its_ends(router: Router, batches: list[list[tuple[int, int]]]) -> bool:
    """Whether every delivered message still carries its own source and target."""
    everything = np.array([ends for batch in batches for ends in batch]).reshape(-1, 2)
    delivered = router.delivered
    return np.array_equal(delivered.payload, everything[delivered.numbers]) and np.array_equal(
        delivered.nodes, delivered.payload[:, 1]
    )
