"""What one ``yield`` does: how many steps it takes, and what it gives."""

import gc
import random
from itertools import pairwise

import numpy as np
import pytest

import mpinet
from mpinet.errors import ProgramError, UsageError
from mpinet.machine.transport import Local
from mpinet.process.deadlock import cycle_or_chain


def run(program, network="ring:5", ports="all", **settings):
    return mpinet.Machine(network, ports, Local()).run(program, **settings)


def test_a_processor_knows_what_its_network_says():
    def program(node):
        yield node.idle()
        beyond = [node.neighbor(port) for port in range(4)]
        return node.id, node.address, node.size, node.ports, beyond

    topology = mpinet.open("mesh:3x3")
    outcome = run(program, "mesh:3x3")
    for node, (number, address, size, ports, beyond) in enumerate(outcome.values):
        assert (number, address, size) == (node, topology.address(node), 9)
        assert beyond == topology.neighbor(node, np.arange(4)).tolist()
        assert ports == tuple(port for port in range(4) if beyond[port] >= 0)


def test_a_message_arrives_in_the_step_in_which_it_is_sent():
    def program(node):
        if node.id == 0:
            yield node.idle(3)
            yield node.send(node.port_to(1), "late")
            return node.step
        if node.id == 1:
            value = yield node.receive(node.port_to(0))
            return value, node.step, node.neighbor(node.arrival_port)

    outcome = run(program)
    assert outcome.values == [4, ("late", 4, 0), None, None, None]
    assert (outcome.steps, outcome.messages, outcome.unreceived) == (4, 1, 0)


def test_receiving_what_has_come_before_takes_no_step():
    def program(node):
        yield node.send(node.port_to((node.id + 1) % node.size), node.id)
        got = yield node.receive(node.port_to((node.id - 1) % node.size))
        return got, node.step

    outcome = run(program, ports="one")
    assert outcome.values == [((node - 1) % 5, 1) for node in range(5)]
    assert outcome.steps == 1


def test_a_limit_ends_a_wait_after_so_many_steps():
    def program(node):
        waits = []
        for limit in (0, 3, 2):
            value = yield node.receive(limit=limit)
            waits.append((value, node.step, node.arrival_port))
        both = yield node.receive_each([0, 1], limit=4)
        return waits, both, node.step

    def sender(node):
        if node.id != 2:
            return (yield from program(node))
        yield node.idle(5)
        yield node.send(node.port_to(1), "six")

    outcome = run(sender)
    port = mpinet.open("ring:5").neighbor(1, np.arange(2)).tolist().index(2)
    silent = [(None, 0, None), (None, 3, None), (None, 5, None)]
    assert outcome.values[4] == (silent, {}, 9)
    assert outcome.values[1] == (silent, {port: "six"}, 9)
    assert outcome.steps == 9


def test_of_messages_the_earliest_comes_first_and_of_one_step_the_lowest_port():
    def program(node):
        if node.id == 0:
            yield node.idle(4)
            taken = []
            for _ in range(4):
                value = yield node.receive()
                taken.append((value, node.arrival_port))
            return taken, node.step
        yield node.idle(1 if node.id == 1 else 2)
        for turn in range(2 if node.id in (1, 4) else 0):
            yield node.send(node.port_to(0), turn)

    taken, step = run(program).values[0]
    near, far = (mpinet.open("ring:5").neighbor(0, np.arange(2)).tolist().index(n) for n in (1, 4))
    same_step = sorted([(1, near), (0, far)], key=lambda message: message[1])
    assert taken == [(0, near), *same_step, (1, far)]
    assert step == 4


def test_several_ports_serve_at_once_on_an_all_port_machine():
    def program(node):
        same = yield node.exchange(node.ports, node.id)
        yield node.send({port: (node.id, port) for port in node.ports})
        own = yield node.receive_each(reversed(node.ports))
        return same, own, node.step

    topology = mpinet.open("hypercube:3")
    outcome = run(program, "hypercube:3")
    for node, (same, own, step) in enumerate(outcome.values):
        assert same == {port: topology.neighbor(node, port) for port in range(3)}
        assert own == {port: (topology.neighbor(node, port), port) for port in range(3)}
        assert (list(own), step) == ([2, 1, 0], 2)
    assert (outcome.steps, outcome.messages) == (2, 48)


def test_a_bus_carries_one_message_to_several_members():
    def program(node):
        if node.id == 0:
            bus = topology.channel(0, 0)
            yield node.send([p for p in node.ports if topology.channel(0, p) == bus], "all")
        else:
            return (yield node.receive(limit=3))

    topology = mpinet.open("clens:3,3")
    outcome = run(program, "clens:3,3")
    assert outcome.messages == 1
    hearers = {int(topology.neighbor(0, p)) for p in range(topology.ports)
               if topology.channel(0, p) == topology.channel(0, 0)}  # fmt: skip
    assert {node for node, value in enumerate(outcome.values) if value == "all"} == hearers


def test_a_value_is_the_receivers_own():
    def program(node):
        table = {"who": [node.id]}
        yield node.send(node.port_to((node.id + 1) % node.size), table)
        table["who"].append("changed")
        got = yield node.receive()
        got["who"].append("mine")
        return table, got

    for node, (table, got) in enumerate(run(program).values):
        assert table == {"who": [node, "changed"]}
        assert got == {"who": [(node - 1) % 5, "mine"]}


def test_messages_that_nobody_receives_are_counted_where_they_are():
    def program(node):
        if node.id == 2:
            yield node.send(node.ports, "unwanted")
            yield node.send(node.port_to(3), "after its end")

    outcome = run(program)
    assert outcome.unreceived == 3
    assert outcome.unreceived_at == [(1, 1), (3, 2)]


def test_random_numbers_belong_to_the_processor_and_the_seed():
    def program(node):
        first = [node.rng.integers(10, 20) for _ in range(50)]
        yield node.idle()
        return first, node.rng.random(), node.rng.permutation(6), node.rng.choice("abc")

    once, again, other = (run(program, seed=seed).values for seed in (3, 3, 4))
    assert once == again
    assert len({str(value) for value in once + other}) == 10
    for numbers, fraction, order, letter in once:
        assert set(numbers) <= set(range(10, 20)) and len(set(numbers)) > 5
        assert 0 <= fraction < 1 and sorted(order) == list(range(6)) and letter in "abc"


def test_draws_are_spread_evenly():
    def program(node):
        return [node.rng.integers(8) for _ in range(1000)]

    counts = np.bincount(np.concatenate(run(program).values), minlength=8)
    assert abs(counts - 625).max() < 5 * (5000 * 7 / 64) ** 0.5


def test_a_routed_message_goes_hop_by_hop():
    def program(node):
        if node.id == 0:
            yield node.route(node.size - 1, [1, 2])
            return node.step
        if node.id == node.size - 1:
            value = yield node.receive(node.ROUTED)
            return value, node.step, node.arrival_port == node.ROUTED

    outcome = run(program, "mesh:7x3", "one")
    assert (outcome.values[0], outcome.values[-1]) == (1, ([1, 2], 8, True))
    assert outcome.steps == outcome.messages == 6 + 2


@pytest.mark.costly
def test_a_routed_message_goes_hop_by_hop_where_rules_are_compiled_in(monkeypatch):
    monkeypatch.setattr("mpinet.machine.router.INLINED_FROM", 0)
    test_a_routed_message_goes_hop_by_hop()


def test_a_processors_own_send_goes_before_what_is_routed():
    def program(node):
        if node.id == 0:
            yield node.route(2, "through")
        if node.id == 1:
            yield node.idle()
            for _ in range(4):
                yield node.send(node.port_to(2), "own")
        if node.id == 2:
            yield node.receive(node.ROUTED)
            return node.step

    assert run(program, "mesh:3").values[2] == 6
    assert run(program, "mesh:3", "one").values[2] == 6


def test_programs_go_on_where_others_have_been():
    machine = mpinet.Machine("ring:4", transport=Local())

    def program(node):
        yield node.idle(2)
        return node.step

    assert [machine.run(program).steps for _ in range(3)] == [2, 2, 2]
    assert machine.steps == 6
    assert machine.run(lambda node: node.id * 2).values == [0, 2, 4, 6]


def test_a_run_leaves_pythons_garbage_collection_as_it_was():
    usual = gc.get_threshold()
    during = run(lambda node: gc.get_threshold()).values[0]
    assert gc.get_threshold() == usual != during


def forgets(node):
    node.send(0, 1)
    yield node.idle()


def forgets_at_its_end(node):
    yield node.idle()
    node.idle()


def yields_a_number(node):
    yield 5


def yields_twice(node):
    action = node.idle()
    yield action
    yield action


def sends_a_function(node):
    yield node.send(0, lambda: 1)


def returns_a_function(node):
    yield node.idle()
    return lambda: 1


def exits(node):
    yield node.idle()
    raise SystemExit(0)


def sends_to_a_letter(node):
    yield node.send("a", 1)


def routes_too_far(node):
    yield node.route(5, 1)


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (forgets, "Processor 0 after step 0, .*in forgets: an action was created and not yielded"),
        (forgets_at_its_end, "in forgets_at_its_end, at its end: an action was created and not"),
        (yields_a_number, "in yields_a_number: the program yields 5, not an action"),
        (yields_twice, "after step 1, .*in yields_twice: an action must be yielded once"),
        (sends_a_function, "in sends_a_function: A value of type function .* pickled"),
        (returns_a_function, "in returns_a_function, at its end: A value of type function"),
        (exits, "after step 1, .*in exits: SystemExit"),
        (sends_to_a_letter, "in sends_to_a_letter: a port is a whole number"),
        (routes_too_far, "in routes_too_far: there is no processor 5: processors are 0..4"),
    ],
)
def test_a_mistake_is_told_with_its_place(program, sentence):
    with pytest.raises(ProgramError, match=sentence):
        run(program)


def test_what_is_no_program_is_refused():
    with pytest.raises(UsageError, match="a function of a node, not 7"):
        run(7)
    with pytest.raises(UsageError, match=r"forgets does not fit its arguments: .*'speed'"):
        run(forgets, speed=3)
    with pytest.raises(ProgramError, match="port 0 leads to a switch"):
        run(forgets, "fattree:2,2")


def test_a_cycle_of_waiting_processors_is_found_wherever_it_is():
    draw = random.Random(5)
    for _ in range(300):
        size = draw.randrange(2, 9)
        following = {node: draw.randrange(-1, size + 2) for node in range(size)}
        found, closed = cycle_or_chain(following)
        on_a_cycle = {node for node in following if node in walked(following, node)}
        assert closed == bool(on_a_cycle)
        if closed:
            assert set(found) <= on_a_cycle and found[0] == min(found)
        assert all(following[a] == b for a, b in pairwise(found))
        assert (following[found[-1]] == found[0]) == closed


def walked(following, node):
    """Where the way from a node leads in as many hops as there are nodes."""
    way = []
    for _ in following:
        node = following.get(node, -1)
        way.append(node)
    return way


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda node: node.idle(1.5), "a number of steps is a whole number, not 1.5"),
        (lambda node: node.receive(limit="2"), "a number of steps is a whole number, not '2'"),
        (lambda node: node.receive(0.0), "a port is a whole number, not 0.0"),
        (lambda node: node.send(None), "a port is a whole number, not None"),
        (lambda node: node.send("0"), "a port is a whole number, not '0'"),
        (lambda node: node.send({0.5: 1}), "a port is a whole number, not 0.5"),
        (lambda node: node.route(1.0), "a processor is a whole number, not 1.0"),
    ],
)
def test_what_is_no_whole_number_is_named_with_its_line(act, sentence):
    def program(node):
        yield act(node)

    with pytest.raises(ProgramError, match=rf"test_actions\.py:\d+ in .*{sentence}\.$") as failed:
        run(program)
    assert "Traceback" not in str(failed.value)


def test_a_port_beyond_64_bits_is_refused():
    def program(node):
        yield node.send(10**30)

    with pytest.raises(ProgramError, match="Processor 0 sends on port 1000000000000000000000000"):
        run(program)
