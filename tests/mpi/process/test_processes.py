"""Processes come to the same on any number of ranks, and what goes wrong is told on all of them."""

import re
from dataclasses import replace

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, mapping_of, transport

import mpinet
from mpinet import ModelViolation, process, rule
from mpinet.cli.commands import parse
from mpinet.errors import ConservationError, Deadlock, ProgramError, RoutingError
from mpinet.jobs import module_of
from mpinet.machine import PortModel, hop
from mpinet.machine.router import Router
from mpinet.machine.transport import Local
from mpinet.networks.routing import STUCK
from mpinet.networks.topology import Topology
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic
from mpinet.report.envelope import digest

HALF_DUPLEX = PortModel(half_duplex=True)
ONE_HALF = PortModel(1, 1, True)


def machine_of(network, ports="all", mapping="blocks"):
    topology = mpinet.open(network)
    return mpinet.Machine(topology, ports, transport(), mapping_of(topology, mapping))


def gossip_at_random(node, rounds):
    """Values of many types and sizes go to random neighbours, and sometimes far away."""
    heard = []
    for turn in range(rounds):
        port = node.rng.choice(node.ports)
        value = node.rng.choice([turn, "word" * turn, [node.id] * 3, {"a": np.arange(turn)}, None])
        yield node.send(port, (node.id, value))
        if node.rng.integers(4) == 0:
            yield node.route(node.rng.integers(node.size), node.step)
        if node.rng.integers(3) == 0:
            heard.append((yield node.receive(limit=2)))
    return heard


@pytest.mark.costly
@pytest.mark.parametrize("network", ["torus:4x3", "ccc:3", "hdn:2x3,super=0.1"])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_the_outcome_depends_on_neither_ranks_nor_mapping(network, mapping):
    machine = machine_of(network, mapping=mapping)
    outcome = machine.run(gossip_at_random, 12, seed=4)
    alone = mpinet.Machine(network, transport=Local()).run(gossip_at_random, 12, seed=4)
    seen = (outcome.steps, outcome.messages, outcome.unreceived, outcome.unreceived_at)
    assert seen == (alone.steps, alone.messages, alone.unreceived, alone.unreceived_at)
    assert outcome.digest == alone.digest
    assert outcome.messages > 12 * outcome.processors
    other = machine.run(gossip_at_random, 12, seed=5)
    assert other.digest != outcome.digest


def take_routed(node, targets):
    yield node.route(targets[node.id], ("from", node.id))
    said, source = yield node.receive(node.ROUTED)
    return said, source


@pytest.mark.parametrize(
    ("network", "ports"),
    [
        ("hypercube:5", "all"),
        ("torus:5x4", "one"),
        ("torus:5x4", HALF_DUPLEX),
        ("fattree:2,4", "all"),
        ("fattree:2,4", "one"),
        ("clens:3,3", "all"),
        ("clens:3,3", "one"),
        ("ccc:3", ONE_HALF),
        ("ring:9", "all"),
    ],
)
def test_messages_of_processes_are_routed_as_the_router_routes_them(network, ports):
    topology = mpinet.open(network)
    pairs = traffic(topology, "permutation", 4)
    sources, targets = pairs.ends(np.arange(topology.hosts))
    assert (sources != targets).any()
    routed = route(machine_of(network, ports), pairs)
    outcome = machine_of(network, ports, "random").run(take_routed, targets.tolist())
    assert (outcome.steps, outcome.messages) == (routed.steps, routed.hops_total)
    if transport().rank == 0:
        assert [source for _, source in outcome.values] == np.argsort(targets).tolist()


@rule
def start_swapped(source, target, header, params):
    """Messages to 7 set out for 8, and those to 8 for 7; else for their target."""
    header[0] = 15 - target if target in (7, 8) else target


@rule
def start_beside(source, target, header, params):
    """A message sets out for the node behind its target."""
    header[0] = (target + 1) % 9


@rule
def decide_nothing(node, header, params):
    """There is no way on from any node."""
    return STUCK


@rule
def decide_beyond(node, header, params):
    """A port that the processors of a ring do not have."""
    return 2


@rule
def decide_forever(node, header, params):
    """Round the ring without end."""
    return 0


WRONG_WAYS = {
    "exchanged": ({"start": start_swapped}, "processors that they were not sent to"),
    "one further": ({"start": start_beside}, "processors that they were not sent to"),
    "no way on": ({"decide": decide_nothing}, "on ring:9 gives a message no next hop at node [12]"),
    "no such port": ({"decide": decide_beyond}, r"port 2 of processor [12], which is not wired"),
    "endless": ({"decide": decide_forever}, "does not come to an end: .* 100 hops"),
}


def route_to_the_last(node):
    if node.id in (1, 2):
        yield node.route(6 + node.id, node.id)
    if node.id in (7, 8):
        return (yield node.receive(node.ROUTED))


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("way", WRONG_WAYS)
def test_no_processor_gets_a_message_that_a_routing_has_brought_elsewhere(monkeypatch, way, ports):
    """Processors 7 and 8 are on one rank of three, so that messages and values meet there."""
    wrong, told = WRONG_WAYS[way]
    right = Topology.routing
    with monkeypatch.context() as patched:
        patched.setattr(Topology, "routing", lambda network, name: replace(right(network), **wrong))
        with pytest.raises(RoutingError, match=told) as error:
            machine_of("ring:9", ports).run(route_to_the_last)
    assert len(set(everyone(str(error.value)))) == 1
    outcome = machine_of("ring:9", ports).run(route_to_the_last)
    if transport().rank == 0:
        assert outcome.values[7:] == [1, 2]


def test_a_routed_message_that_vanishes_is_noticed_on_every_rank(monkeypatch):
    """Processor 1 loses what comes to it; its receiver is not said to wait in vain."""
    take_in = Router._take_in

    def forgetful(router, rows, in_order):
        take_in(router, rows[hop.high(rows[:, hop.PLACE]) != 1], in_order)

    monkeypatch.setattr(Router, "_take_in", forgetful)
    with pytest.raises(ConservationError, match="2 messages were injected, but 1 delivered") as it:
        machine_of("ring:9").run(route_to_the_last)
    assert len(set(everyone(str(it.value)))) == 1


def pass_a_token(node, rounds):
    """A token goes from processor to processor, to every third one."""
    held = 0
    for turn in range(rounds):
        if 3 * turn % node.size == node.id:
            held += 1 if turn == 0 else (yield node.receive(node.ROUTED))
            yield node.route(3 * (turn + 1) % node.size, held)
    return held


def test_numbers_of_routed_messages_do_not_run_out_while_there_are_pauses(monkeypatch):
    """An injection takes eight numbers here, and there are 20 injections."""
    monkeypatch.setattr("mpinet.machine.router.hop.HIGH_MOST", 20)
    outcome = machine_of("ring:8").run(pass_a_token, 20)
    assert (outcome.messages, outcome.unreceived) == (3 * 20, 1)


def two_into_one(node):
    yield node.idle(3)
    if node.id in (1, 3):
        yield node.send(node.port_to(2), "now")
    yield node.idle()


def two_at_once(node):
    yield node.idle()
    if node.id == 4:
        yield node.send(node.ports, "both")


def all_to_one(node):
    if node.id == 2:
        yield node.send([0, 0], "twice")
    else:
        yield node.send(node.port_to(2) if node.id in (1, 3) else 0, "innocent")


def wrong_port(node):
    if node.id == 5:
        yield node.send(2, "nowhere")


@pytest.mark.parametrize(
    ("program", "rule", "lines"),
    [
        (
            two_into_one,
            r"Step 4: processor 2 receives on port \d: a processor accepts at most 1",
            ["processor 1 sends: ", "processor 2 idles: ", "processor 3 sends: "],
        ),
        (two_at_once, "Step 2: processor 4 sends on port 1: .*at most 1", ["processor 4 sends: "]),
        (all_to_one, "Step 1: processor 2 sends on port 0: a channel", ["processor 2 sends: "]),
        (wrong_port, r"Step 1: processor 5 sends on port 2: .*0\.\.1", ["processor 5 sends: "]),
    ],
)
def test_a_breach_of_the_port_model_is_told_with_its_line(program, rule, lines):
    with pytest.raises(ModelViolation) as refused:
        machine_of("ring:6", "one" if program is not all_to_one else "all").run(program)
    assert len(set(everyone(str(refused.value)))) == 1
    heading, *places = str(refused.value).splitlines()
    assert re.match(rule, heading)
    assert all(place.strip().startswith(line) for place, line in zip(places, lines, strict=True))
    first = program.__code__.co_firstlineno
    for place in places:
        line = re.search(rf"test_processes.py:(\d+) in {program.__name__}$", place)
        assert first < int(line[1]) < first + 6


def two_on_one_bus(node):
    if node.id in busmates():
        yield node.send(node.port_to(sum(busmates()) - node.id), "both")


def busmates():
    """Two processors that have their lowest bus in common."""
    return 0, mpinet.open("clens:3,3").neighbor(0, 0)


def test_both_senders_on_a_bus_are_told():
    with pytest.raises(ModelViolation, match="carries one transmission in a step") as refused:
        machine_of("clens:3,3", mapping="random").run(two_on_one_bus)
    assert len(set(everyone(str(refused.value)))) == 1
    places = str(refused.value).splitlines()[1:]
    assert [int(re.search(r"processor (\d+) sends", place)[1]) for place in places] == sorted(
        busmates()
    )


def wait_for_the_next(node):
    yield node.idle(2)
    yield from waiting_in_vain(node, node.port_to((node.id + 1) % node.size))


def waiting_in_vain(node, port):
    if node.id != 6:
        yield node.receive(port)
    yield node.receive(port)


def wait_for_the_gone(node):
    if node.id == 0:
        yield node.send(node.port_to(1), "unwanted")
    elif node.id < 3:
        yield node.receive(node.port_to(node.id + 1))


def test_a_cycle_of_waiting_processors_is_explained():
    with pytest.raises(Deadlock) as found:
        machine_of("ring:7", "one", "random").run(wait_for_the_next)
    assert len(set(everyone(str(found.value)))) == 1
    heading, *lines = str(found.value).splitlines()
    assert heading == (
        "Deadlock after step 2: 7 processors wait for messages, and no message is in flight. "
        "7 wait for one another in a cycle:"
    )
    first = waiting_in_vain.__code__.co_firstlineno
    ports = [mpinet.open("ring:7").neighbor(u, np.arange(2)).tolist() for u in range(7)]
    for node, line in enumerate(lines):
        following = (node + 1) % 7
        assert re.fullmatch(
            rf"  processor {node}, .*test_processes.py:{first + 2 + (node == 6)} in "
            rf"waiting_in_vain: waits since step 2 for a message on port "
            rf"{ports[node].index(following)} from processor {following}",
            line,
        )


def test_waiting_for_a_processor_that_has_ended_is_explained():
    with pytest.raises(Deadlock) as found:
        machine_of("mesh:5").run(wait_for_the_gone)
    assert len(set(everyone(str(found.value)))) == 1
    heading, first, second = str(found.value).splitlines()
    assert "after step 1: 2 processors wait for messages, and no message is in flight." in heading
    assert re.search(r"processor 1, .* from processor 2; 1 other message\(s\) have come$", first)
    assert re.search(r"processor 2, .* from processor 3 \(which has ended\)$", second)


def wait_for_what_is_routed(node):
    if node.id > 0:
        yield node.receive(node.ROUTED)


def test_what_is_waited_for_is_told_whatever_it_is():
    with pytest.raises(
        Deadlock, match=r"3 processors .*flight\.\n .*since step 0 for a message from the router"
    ):
        machine_of("mesh:2x2").run(wait_for_what_is_routed)
    with pytest.raises(Deadlock, match=r"for a message on port \d, which is not wired$"):
        machine_of("mesh:2").run(wait_at_no_port)


def wait_at_no_port(node):
    yield node.receive(1 - node.ports[0])


class Unwelcome:
    """Pickled by its sender, but no receiver can read it."""

    def __reduce__(self):
        return int, ("no number",)


def send_the_unwelcome(node):
    if node.id == 2:
        yield node.send(node.port_to(3), Unwelcome())
    if node.id == 3:
        yield node.receive()


def divide_by_zero(node):
    yield node.idle(node.id % 3)
    if node.id in (3, 7):
        1 / (node.id - 3)
        1 / (node.id - 7)
    yield node.receive()


@pytest.mark.parametrize(
    ("program", "beginning", "end"),
    [
        (divide_by_zero, "Processor 3 after step 0, .* in divide_by_zero: ZeroDiv", "by zero"),
        (send_the_unwelcome, "Processor 3 after step 1, .* in send_the.*: ValueError", "number'"),
    ],
)
@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_an_error_in_one_processor_ends_the_job_with_its_traceback(
    program, beginning, end, mapping
):
    with pytest.raises(ProgramError) as failed:
        machine_of("ring:9", mapping=mapping).run(program)
    assert len(set(everyone(str(failed.value)))) == 1
    assert re.match(beginning, str(failed.value))
    assert "Traceback" in str(failed.value) and str(failed.value).endswith(end)


def test_of_several_errors_in_a_step_the_lowest_processors_is_told():
    def program(node):
        yield node.idle(2)
        raise ValueError(f"of {node.id}")

    for mapping in MAPPINGS:
        with pytest.raises(ProgramError, match=r"Processor 0 after step 2.*\n.*"):
            machine_of("ring:9", mapping=mapping).run(program)


def test_a_machine_is_of_use_after_an_error():
    machine = machine_of("ring:6", "one")
    for program, error in [(wait_for_the_next, Deadlock), (two_at_once, ModelViolation)]:
        with pytest.raises(error):
            machine.run(program)
    assert machine.run(lambda node: node.id).steps == 0
    assert process.run(machine, lambda node, k: k, [7]).processors == 6


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_the_command_gives_the_same_digest_on_any_number_of_ranks(mapping):
    words = "run mpinet.examples.oddeven:odd_even_sort --on mesh:11 --ports one --seed 3 --mapping"
    digests = []
    for hosts, how in ((transport(), mapping), (Local(), "blocks")):
        options = parse([*words.split(), how])
        job = module_of("run").prepare(options)
        result = job.run(hosts, lambda *done: None)
        digests.append(digest(result))
    assert transport().rank > 0 or digests[0] == digests[1]
    assert transport().rank > 0 or (result["steps"], len(result["values"])) == (11, 11)


def ports_of_busses(node):
    """A processor's ports, by bus."""
    topology, busses = node._hosting.topology, {}
    for port in node.ports:
        busses.setdefault(topology.channel(node.id, port), []).append(port)
    return list(busses.values())


def tell_one_bus(node, form, value, other):
    """Processor 0 tells the members of its first bus a value, all but one of them `other`."""
    if node.id:
        return (yield node.receive(limit=3))
    ports = ports_of_busses(node)[0]
    assert len(ports) > 1
    values = {port: value() for port in ports[1:]} | {ports[0]: other()}
    yield node.send(ports, value()) if form == "list" else node.send(values)
    return None


VALUES = [lambda: 7, lambda: "all", lambda: [1, {"a": (2.5, None)}], lambda: ("a", float("nan"))]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("ports", ["one", "all"])
def test_equal_values_on_the_ports_of_one_bus_are_one_transmission(value, ports):
    by_list = machine_of("clens:3,2", ports).run(tell_one_bus, "list", value, value)
    by_port = machine_of("clens:3,2", ports).run(tell_one_bus, "dict", value, value)
    assert (by_list.messages, by_list.digest) == (1, by_port.digest)
    assert (by_port.messages, by_port.steps) == (1, by_list.steps)


@pytest.mark.parametrize(("value", "other"), [(1, True), (1, 1.0), ((0.0,), (-0.0,)), ("a", b"a")])
def test_values_that_only_compare_equal_are_different_messages_on_a_bus(value, other):
    with pytest.raises(ModelViolation, match=r"Step 1: processor 0 .* must carry one message"):
        machine_of("clens:3,2").run(tell_one_bus, "dict", lambda: value, lambda: other)


def send_twice(node):
    """A legal step, then two messages of processor 3."""
    yield node.send(0)
    yield node.send([0, 1][: 1 + (node.id == 3)])


def test_a_violation_counts_steps_from_the_run_s_first():
    machine = machine_of("ring:6", "one")
    for _ in range(2):
        with pytest.raises(ModelViolation, match=r"^Step 2: processor 3 sends on port 1") as error:
            machine.run(send_twice)
        assert len(set(everyone(str(error.value)))) == 1
    assert machine.steps == 2
    nodes = np.repeat(machine.nodes[machine.nodes == 3], 2)
    with pytest.raises(ModelViolation, match=r"^Step 3: processor 3"):
        machine.step(nodes, np.arange(len(nodes)))
        machine.sum(1)
