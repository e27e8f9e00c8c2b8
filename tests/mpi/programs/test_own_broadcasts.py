"""The papers' own broadcasts: their stated steps, the port model, one result on any ranks."""

import re
from dataclasses import replace
from math import ceil

import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, own
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import ModelViolation, UsageError
from mpinet.jobs import module_of
from mpinet.machine import Machine, PortModel
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local, world
from mpinet.programs.broadcast import broadcast
from mpinet.report.envelope import digest

ALL = PortModel(send=1)
"""A processor sends one message in a step and accepts from all its busses."""


def straight(p, q, n, row):
    return row - 1 + (p >= 3) + (n - 1) + (n - 1) * ceil((q - 1) / (p - 1))


STATED = [
    *(
        (f"bsn:{a},{b},{n}", root, ports, None, ceil(n / per) + ceil(n / b) - 1)
        for a, b, n, root in [(1, 2, 7, 5), (2, 2, 8, 255), (2, 4, 9, 170), (3, 3, 3, 6)]
        for ports, per in [("one", 1), ("all", a)]
    ),
    *(
        (f"clens:{p},{n}", root, ports, None, 3 * n // 2)
        for p, n, root in [(3, 3, 17), (3, 6, 200), (4, 3, 5), (5, 2, 31)]
        for ports in ("one", "all")
    ),
    *((f"clens:{p},{n}", 7, ALL, "flooding", 3 * n // 2) for p, n in [(3, 4), (4, 3), (5, 2)]),
    *((f"clens:2,{n}", 1, ports, None, ceil(n / 2)) for n in (4, 9) for ports in ("one", "all")),
    ("lens:3,4,3", 0, "one", None, straight(3, 4, 3, 1)),
    ("lens:3,4,3", 37, ALL, None, straight(3, 4, 3, 3)),
    ("lens:4,3,3", 50, "all", None, straight(4, 3, 3, 3)),
    ("lens:2,3,4", 9, ALL, None, straight(2, 3, 4, 2)),
]
"""Network, root, port model, algorithm, steps by the closed forms of docs/papers."""


@pytest.mark.costly
@pytest.mark.parametrize(("network", "root", "ports", "algorithm", "steps"), STATED)
def test_everybody_is_informed_in_the_stated_steps(network, root, ports, algorithm, steps):
    topology = mpinet.open(network)
    machine = machine_of(topology, ports, mapping=mapping_of(topology, "random"), trace=Trace())
    result = broadcast(machine, root, algorithm)
    assert (result.steps, machine.steps, result.informed) == (steps, steps, topology.size)
    assert sum(length for _, length in result.phases) == steps
    assert result.lower_bound <= steps
    alone = Machine(topology, ports, Local(), trace=Trace())
    assert set(everyone(result)) == {broadcast(alone, root, algorithm)}
    assert together(everyone, moves_of(machine)) == moves_of(alone)


@pytest.mark.costly
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize(
    ("network", "algorithm", "ports"),
    [
        ("gbsn:2,m=2-2-2-2-9,a=1", None, "one"),
        ("gbsn:5,m=20-31-3-17-9,a=2-5-1-3-4", None, "one"),
        ("gbsn:5,m=20-31-3-17-9,a=2-5-1-3-4", None, "all"),
        ("hdn:2x3,super=0.1/1", "printed", "one"),
        ("lens:3,4,3", "flooding", "all"),
        ("plens:3,20", "flooding", ALL),
        ("snowflake:3,3", None, "all"),
    ],
)
def test_every_message_is_the_same_on_any_ranks(network, algorithm, ports, mapping):
    topology = mpinet.open(network)
    root = topology.size // 3
    mapped = mapping_of(topology, mapping)
    machine = machine_of(topology, ports, mapping=mapped, trace=Trace())
    result = broadcast(machine, root, algorithm)
    alone = Machine(topology, ports, Local(), trace=Trace())
    assert set(everyone(result)) == {broadcast(alone, root, algorithm)}
    assert together(everyone, moves_of(machine)) == moves_of(alone)
    assert result.informed == topology.size or algorithm == "printed"


SCHEDULED = [
    ("bsn:1,2,6", 5, "sections"),
    ("gbsn:1,m=4-4-4-2,a=1", 5, "routes"),
    ("clens:3,3", 5, "sweep"),
    ("clens:3,3", 5, "flooding"),
    ("lens:3,4,3", 20, "sweep"),
    ("hdn:2x3x5,super=0.1", 7, "algorithm2"),
    ("hdn:2x3x5,super=0.1", 7, "printed"),
    ("torus:4x5", 7, "dimensions"),
    ("sth:2,3", 7, "twophase"),
]


def sends_of(topology, root, algorithm):
    """The legal schedule: for every step the (sender, port) pairs."""
    machine = Machine(topology, ALL, Local(), trace=Trace())
    broadcast(machine, root, algorithm)
    steps = [[] for _ in range(machine.steps)]
    for step, sender, port, _, _ in moves_of(machine):
        steps[step - 1].append((sender, port))
    return steps


def violation(topology, steps):
    """What is said when these sends are made; the same on every rank."""
    machine = machine_of(topology, ALL)
    with pytest.raises(ModelViolation) as error:
        for sends in steps:
            mine = [sends[i] for i in own(machine, [u for u, _ in sends])]
            machine.step([u for u, _ in mine], [port for _, port in mine])
        machine.sum(0)
    (told,) = set(everyone(str(error.value)))
    return told


def wired(topology, node):
    """Ports of a node with the channel behind each."""
    ports = [port for port in range(topology.ports) if topology.neighbor(node, port) >= 0]
    return {port: topology.channel(node, port) for port in ports}


@pytest.mark.parametrize(("network", "root", "name"), SCHEDULED)
def test_one_send_too_many_is_caught_and_named(network, root, name):
    topology = mpinet.open(network)
    steps = sends_of(topology, root, name)
    for at in (0, len(steps) - 1):
        sender, used = steps[at][0]
        there = wired(topology, sender)
        more = next(port for port in there if there[port] != there[used])
        variant = [*steps[:at], [*steps[at], (sender, more)]]
        said = "sends on port [0-9]+: a processor sends at most 1 message"
        assert re.match(f"Step {at + 1}: processor {sender} {said}", violation(topology, variant))


@pytest.mark.parametrize(("network", "name"), [("clens:3,3", "sweep"), ("lens:3,4,3", "flooding")])
def test_a_second_sender_on_a_bus_is_caught_and_named(network, name):
    topology = mpinet.open(network)
    steps = sends_of(topology, 3, name)
    sender, port = steps[1][0]
    fellow, back = topology.neighbor(sender, port), topology.reverse_port(sender, port)
    told = violation(topology, [steps[0], [(sender, port), (fellow, back)]])
    bus = topology.channel(sender, port)
    assert f"bus {bus} carries one transmission in a step" in told
    assert told.startswith(f"Step 2: processor {max(sender, fellow)} sends on port")


def test_listening_to_all_busses_is_caught_where_one_message_is_accepted():
    topology = mpinet.open("clens:4,3")
    legal = topology.schedules(9)["sweep"]()
    topology.schedules = lambda root: {"sweep": lambda: replace(legal, listen=None)}
    machine = machine_of(topology, "one")
    with pytest.raises(ModelViolation, match="accepts at most 1 message") as error:
        broadcast(machine, 9, "sweep")
        machine.sum(0)
    assert len(set(everyone(str(error.value)))) == 1


def test_an_all_port_broadcast_is_caught_on_a_one_port_machine():
    machine = machine_of("bsn:2,2,6", "one")
    with pytest.raises(ModelViolation, match="Step 1: processor 3 sends on port 1: a processor"):
        broadcast(machine, 3, "subsections")
        machine.sum(0)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("network", "ports", "algorithm"),
    [
        ("bsn:2,2,6", "one", "sections"),
        ("bsn:2,2,6", "all", "subsections"),
        ("gbsn:2,m=4-4-4-3,a=1", "one", "routes"),
        ("gbsn:2,m=4-4-4-3,a=1", "all", "routes"),
        ("clens:3,3", "one", "sweep"),
        ("clens:3,3", "all", "sweep"),
        ("plens:3,20", "one", "passes"),
        ("plens:3,20", "all", "passes"),
        ("hdn:2x3,super=0", "one", "algorithm2"),
        ("hypercube:4", "all", "binomial"),
        ("ccc:3", "all", "passes"),
        ("bsn:2,2,4*bsn:1,1,3", "all", "sections"),
        ("clens:3,2*clens:3,2", "all", "passes"),
    ],
)
def test_the_default_fits_the_port_model(network, ports, algorithm):
    machine = machine_of(network, ports)
    result = broadcast(machine, 1)
    assert (result.algorithm, result.informed) == (algorithm, machine.topology.size)


def test_bus_networks_tell_what_they_have():
    with pytest.raises(UsageError, match="available broadcasts: sweep, passes, flooding"):
        broadcast(machine_of("clens:3,3", "one"), 0, "tree")


COMMANDS = [
    "broadcast bsn:1,2,7 --root 9 --schedule",
    "broadcast bsn:2,4,7 --root 9 --ports all --schedule",
    "broadcast gbsn:2,m=4-4-4-3-7,a=1 --root 9 --schedule",
    "broadcast clens:3,4 --root 9 --schedule",
    "broadcast lens:3,4,3 --root 9 --ports all --schedule",
    "broadcast clens:4,2 --root 9 --ports all --algorithm flooding --schedule",
    "broadcast hdn:2x3,super=-/1 --root 5 --algorithm printed --schedule",
]


def outcome(command, transport):
    options = parse(command.split())
    job = module_of(options.command).prepare(options)
    return digest(job.run(transport, lambda *done: None))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_digest_of_the_command_is_the_same_on_any_ranks_and_mapping(command):
    transport = world()
    digests = {outcome(command, transport), outcome(f"{command} --mapping random", transport)}
    alone = outcome(command, Local())
    assert transport.rank != 0 or digests == {alone}
