"""Data circulation: each item visits its subcube, on BSN in the steps of docs/papers/gbsn, 4."""

from itertools import pairwise

import pytest
from mpi.machine.ranks import everyone, machine_of, mapping_of, transport
from serial.gbsn.reference import rotl, rotr
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.machine.trace import Trace
from mpinet.programs.circulate import circulate
from mpinet.programs.schedules.exchange import DimensionExchange

BSN = ["1,1,1", "1,1,4", "1,1,5", "1,2,4", "2,2,4", "2,2,5", "1,3,5", "2,4,5", "3,3,3"]


def trailing_zeros(i):
    return len(bin(i)) - len(bin(i).rstrip("0"))


def rotations(b, n):
    """The order of the shift by b."""
    return next(t for t in range(1, n + 1) if t * b % n == 0)


def steps_on_a_bsn(b, n, q):
    """2^q - 1 exchanges, and the ways to the sections above the first and back."""
    rho = rotations(b, n)
    ways = [2 ** (q - z) * min(z // b, rho - z // b) for z in range(b, q)]
    return 2**q - 1 + sum(ways)


@pytest.mark.costly
@pytest.mark.parametrize("name", BSN)
def test_on_a_bsn_it_takes_the_steps_of_the_spec_in_every_subcube(name):
    _, b, n = map(int, name.split(","))
    topology = mpinet.open(f"bsn:{name}")
    for q in range(1, n + 1):
        for algorithm, kind in (("sections", "blocks"), ("unaligned", "random")):
            machine = machine_of(topology, "one", mapping=mapping_of(topology, kind))
            result = circulate(machine, q, algorithm, seed=q)
            assert result.correct
            assert result.steps == machine.steps == steps_on_a_bsn(b, n, q)
            assert result.lower_bound == 2**q - 1
            assert sum(steps for _, steps in result.phases) == result.steps
            assert len(result.phases) == q


def literal_circulation(b, n, q):
    """All sends (step, sender, receiver), item by item, and the virtual nodes that items visit."""
    rho, offset, step = rotations(b, n), 0, 0
    place = {item: item for item in range(2**n)}
    visited = {item: {item} for item in place}
    sends = []

    def physical(node):
        return rotr(node, offset * b, n)

    def rotate(section):
        nonlocal offset, step
        right, left = (section - offset) % rho, (offset - section) % rho
        for _ in range(min(right, left)):
            step += 1
            for node in place.values():
                here = physical(node)
                there = rotr(here, b, n) if right <= left else rotl(here, b, n)
                if there != here:
                    sends.append((step, here, there))
            offset = (offset + (1 if right <= left else -1)) % rho

    for i in range(1, 2**q):
        z = trailing_zeros(i)
        rotate(z // b)
        step += 1
        for item, node in place.items():
            sends.append((step, physical(node), physical(node ^ 1 << z)))
            place[item] = node ^ 1 << z
            visited[item].add(place[item])
    rotate(0)
    return sorted(sends), visited


@pytest.mark.parametrize(("name", "q"), [("1,1,4", 4), ("2,2,5", 4), ("1,2,4", 4), ("1,3,4", 2)])
def test_the_unaligned_schedule_sends_what_the_spec_says(name, q):
    _, b, n = map(int, name.split(","))
    machine = machine_of(f"bsn:{name}", "one", trace=Trace())
    assert circulate(machine, q, "unaligned").correct
    found = together(everyone, moves_of(machine))
    sends, visited = literal_circulation(b, n, q)
    assert [(step, u, v) for step, u, _, v, _ in found] == sends
    for item, nodes in visited.items():
        assert nodes == {item >> q << q | low for low in range(2**q)}


@pytest.mark.parametrize("ports", ["one", "all"])
def test_a_cube_takes_a_step_for_every_other_node_of_the_subcube(ports):
    for name, q, sent in (("hypercube:5", 5, 31), ("hypercube:5", 3, 7), ("complete:1", 0, 0)):
        result = circulate(machine_of(name, ports), q)
        assert result.correct
        assert (result.steps, result.lower_bound) == (sent, sent)
        assert result.messages == sent * 2**5
        assert set(everyone(result)) == {result}


@pytest.mark.parametrize(
    "name", ["ring:16", "debruijn:3", "shuffleexchange:3", "gmn:16", "fattree:2,3"]
)
def test_items_circulate_on_every_host_of_exchanges(name):
    result = circulate(machine_of(name, "one"))
    assert result.correct and result.steps >= result.lower_bound


def test_an_item_that_misses_a_processor_is_noticed():
    class Forgetful(DimensionExchange):
        def carry_out(self, program, state):
            return [*super().carry_out(program[:-2], state), [], []]

    result = circulate(machine_of("hypercube:3", "one"), algorithm=Forgetful)
    assert result.correct is False


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("circulate ring:6", "need 2\\^q processors, and ring:6 has 6"),
        ("circulate hypercube:3 --dimensions 4", "in 1..3 dimensions, not in 4"),
        ("circulate hypercube:3 --dimensions 0", "in 1..3 dimensions, not in 0"),
        ("circulate hypercube:3 --algorithm magic", "no ASCEND algorithm 'magic'"),
    ],
)
def test_wrong_usage_gets_a_sentence(command, said):
    with pytest.raises(UsageError, match=said):
        module_of("circulate").prepare(parse(command.split()))


def test_the_command_reports_the_counts():
    options = parse("circulate bsn:1,2,4 --dimensions 3".split())
    found = module_of("circulate").prepare(options).run(transport(), lambda *done: None)
    assert (found["steps"], found["lower_bound"], found["correct"]) == (9, 7, True)
    names = [phase["name"] for phase in found["phases"]]
    assert all(low < high for low, high in pairwise(names))


@pytest.mark.parametrize("name", ["lens:3,3,2", "lens:3,3,4"])
def test_the_elements_of_a_lens_s_rows_circulate_though_there_are_more_processors(name):
    level = int(name[-1])
    result = circulate(machine_of(name))
    assert result.correct and result.lower_bound == 2**level - 1 <= result.steps
    assert [phase for phase, _ in result.phases] == [f"dimension {z}" for z in range(level)]
    with pytest.raises(
        UsageError, match=rf"circulate in 1\.\.{level} dimensions, not in {level + 1}"
    ):
        circulate(machine_of(name), level + 1)
