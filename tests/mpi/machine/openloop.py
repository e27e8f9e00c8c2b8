"""Open-loop runs in the words of the golden file, on any ranks and mapping."""

import json
from functools import cache
from pathlib import Path

import numpy as np
from mpi.machine.ranks import mapping_of

import mpinet
from mpinet.machine.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.results import results
from mpinet.machine.traffic.run import OpenLoop
from mpinet.machine.transport import alone
from mpinet.measure.deadlock import counted_classes, settled
from mpinet.programs.patterns import in_order, pattern_of

STANDARD = {
    "network": "torus:8x8",
    "pattern": "uniform",
    "rate": 0.1,
    "size": 1,
    "long_size": 0,
    "long_share": 0.0,
    "burst": 0.0,
    "burst_rate": 1.0,
    "switching": "wormhole",
    "vcs": 2,
    "buffer": 4,
    "classes": "dateline",
    "tie": "forward",
    "policy": "oldest",
    "crossbar": "one",
    "eject": "one",
    "delay": 1,
    "warmup": 50,
    "measure": 150,
    "drain": 600,
    "seed": 1,
}


@cache
def golden():
    """The reference's exact results: settings, traces and results."""
    return json.loads((Path(__file__).parent / "traffic_golden.json").read_text())


def open_loop(trace=None, mapping="blocks", faults=None, routing=None, transport=None, **changes):
    """A run that is ready to go; `changes` in the golden file's words."""
    s = STANDARD | changes
    network = s["network"]
    topology = mpinet.open(network) if isinstance(network, str) else network
    machine = Machine(topology, transport=transport, mapping=mapping_of(topology, mapping))
    routing = routing or topology.routing("parity" if s["tie"] == "parity" else None)
    with alone():
        routing = settled(topology, routing)
        classes = counted_classes(topology, routing, s["classes"])
    pattern = pattern_of(topology, s["pattern"])
    rows = None if trace is None else in_order(np.array(trace, np.int64).reshape(-1, 4))
    generation = Generation(
        pattern.rule,
        pattern.params,
        s["rate"],
        s["size"],
        s["long_size"],
        s["long_share"],
        s["burst"],
        s["burst_rate"],
        rows,
        bounds=pattern.bounds if s.get("priority") else (),
    )
    buffering = Buffering(
        s["switching"], s["vcs"], s["buffer"], s["policy"], s["crossbar"], s["eject"], s["delay"],
        s.get("router_delay", 0), s.get("queue", 0), s.get("at_once", 0), s.get("iterations", 1),
    )  # fmt: skip
    window = Window(s["warmup"], s["measure"], s["drain"])
    return OpenLoop(machine, routing, classes, buffering, generation, window, s["seed"], faults)


def simulate(trace=None, mapping="blocks", faults=None, routing=None, **changes):
    """The results of a run."""
    return results(open_loop(trace, mapping, faults, routing, **changes).run())
