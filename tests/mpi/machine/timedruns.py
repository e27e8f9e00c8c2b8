"""Runs of the timed machine for its tests: by the machine, by the reference, of random programs."""

import json
from functools import cache
from pathlib import Path
from random import Random

from mpi.machine.ranks import transport
from mpi.machine.timed_reference import Flat, Routed, Shared, play

import mpinet
from mpinet.machine import placement
from mpinet.machine.machine import Machine
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.results import result_of
from mpinet.machine.timed.run import TimedRun
from mpinet.programs.messages.goal import program_of


@cache
def golden():
    """The settings of the specification, each with its program and its result."""
    return json.loads(Path(__file__).with_name("timed_golden.json").read_text())


def costs_of(setting, half=False):
    """The costs of a setting."""
    return Costs(
        setting["o"], setting["O"], setting["g"], setting["G"], setting["S"],
        tuple(setting["hop"]), tuple(setting["byte"]), setting["flat"], setting["mode"], half,
        rendezvous=setting.get("rendezvous", "round-trip"),
    )  # fmt: skip


def noted_run(text, mapping="blocks", half=False, noted=True, **setting):
    """A run of a program, or of its text, on the timed machine, over."""
    program, on = program_of(text.encode()) if isinstance(text, str) else text, setting["on"]
    topology = mpinet.open(on or f"complete:{max(2, program.processors)}")
    hosting = None if mapping == "blocks" else placement.scattered(topology, 7)
    machine = Machine(topology, "all", transport(), hosting)
    routing = topology.routing(setting.get("routing")) if on else None
    return TimedRun(machine, program, costs_of(setting, half), routing, noted).run()


def played(text, mapping="blocks", half=False, **setting):
    """The result of a program on the timed machine, as the reference has it."""
    found = result_of(noted_run(text, mapping, half, False, **setting))
    if not found["stuck"]:
        del found["stuck"], found["first_stuck"]
    return found


def referred(text, half=False, **setting):
    """The result of the reference."""
    if setting["on"] is None:
        network = Flat(setting["flat"])
    else:
        topology = mpinet.open(setting["on"])
        kind = Shared if half or not topology.links else Routed
        network = kind(topology, setting["hop"], setting["byte"], setting.get("routing"))
    costs = {name: setting[name] for name in "ogGOS"}
    rendezvous = setting.get("rendezvous", "round-trip")
    return play(text, network, setting["mode"], rendezvous=rendezvous, **costs)


NETWORKS = (
    "torus:3x4", "ring:6", "mesh:2x3x2", "hypercube:3", "complete:7", "torus:2x5", "fattree:2,3",
    "debruijn:3", "dragonfly:2,2,1", "torus:3x3,hosts=2", None, None,
)  # fmt: skip
BUSSED = ("hypermesh:2,2,2", "lens:3,3,3")


def random_case(number):
    """A random program and setting: any source and tag, CPUs, irequires, rendezvous, stuck ends."""
    draw = Random(number)
    on = draw.choice(NETWORKS)
    hosts = mpinet.open(on).hosts if on else draw.randrange(2, 10)
    setting = {
        "on": on,
        "flat": draw.choice([1, 7, 300]),
        "mode": draw.choice(["cut", "store", "ideal"]),
        "hop": [draw.randrange(1, 90) for _ in range(draw.choice([1, 2, 3]))],
        "byte": [draw.choice([0, 1, 3, 9]) for _ in range(draw.choice([1, 2]))],
        "o": draw.choice([0, 3, 40, 500]),
        "g": draw.choice([0, 5, 200]),
        "G": draw.choice([0, 1, 4]),
        "O": draw.choice([0, 1]),
        "S": draw.choice([None, 1, 60]),
    }
    return random_program(draw, hosts), setting


def random_program(draw, hosts):
    """A random program of up to so many processors, most of whose messages meet a receive."""
    processors = draw.randrange(1, hosts + 1)
    lines = [[] for _ in range(processors)]
    cpus, tags = draw.choice([1, 1, 3]), draw.choice([1, 3])
    for _ in range(draw.randrange(4 * processors)):
        kind, one, other = draw.randrange(6), draw.randrange(processors), draw.randrange(processors)
        size, tag, cpu = draw.choice([1, 7, 64, 900]), draw.randrange(tags), draw.randrange(cpus)
        if kind == 0:
            lines[one].append(f"calc {draw.choice([0, 10, 333])} cpu {cpu}")
            continue
        if kind < 5 or draw.random() < 0.5:
            lines[one].append(f"send {size}b to {other} tag {tag} cpu {cpu}")
        if kind < 5 or draw.random() < 0.5:
            source = "any" if draw.random() < 0.2 else one
            lines[other].append(
                f"recv {size}b from {source} tag {'any' if draw.random() < 0.2 else tag}"
            )
    text = f"num_ranks {processors}\n"
    for rank, mine in enumerate(lines):
        draw.shuffle(mine)
        text += f"rank {rank} {{\n"
        text += "".join(f"l{i}: {line}\n" for i, line in enumerate(mine, 1))
        for i in range(2, len(mine) + 1):
            for _ in range(draw.choice([0, 0, 1, 2])):
                how = draw.choice(["requires", "requires", "irequires"])
                text += f"l{i} {how} l{draw.randrange(1, i)}\n"
        text += "}\n"
    return text


def sparse_case(number):
    """A random program with few messages, each with its own tag, and a setting on a network."""
    draw = Random(f"sparse {number}")
    on = draw.choice(["torus:3x3", "mesh:2x4", "hypercube:3", "ring:6", "fattree:2,3"])
    hosts = mpinet.open(on).hosts
    lines = [[] for _ in range(hosts)]

    def add(rank, line):
        lines[rank].append(line)
        if len(lines[rank]) > 1 and draw.random() < 0.8:
            return f"l{len(lines[rank])} requires l{draw.randrange(1, len(lines[rank]))}"
        return ""

    needs = [[] for _ in range(hosts)]
    for tag in range(draw.randrange(1, 8)):
        one, other = draw.sample(range(hosts), 2)
        size = draw.choice([1, 9, 200, 4000])
        if draw.random() < 0.6:
            needs[other].append(add(other, f"calc {draw.randrange(1, 9000)}"))
        needs[one].append(add(one, f"send {size}b to {other} tag {tag}"))
        needs[other].append(add(other, f"recv {size}b from {one} tag {tag}"))
    text = f"num_ranks {hosts}\n"
    for rank, mine in enumerate(lines):
        named = [f"l{i}: {line}" for i, line in enumerate(mine, 1)]
        text += "\n".join([f"rank {rank} {{", *named, *filter(None, needs[rank]), "}", ""])
    setting = {
        "on": on,
        "flat": 0,
        "hop": [draw.randrange(1, 90) for _ in range(2)],
        "byte": [draw.choice([0, 1, 3]) for _ in range(2)],
        "o": draw.choice([0, 3, 40]),
        "g": draw.choice([0, 5, 20]),
        "G": draw.choice([0, 1, 4]),
        "O": draw.choice([0, 1]),
        "S": draw.choice([None, 60]),
    }
    return text, setting
