"""ASCEND and DESCEND on BSN (docs/papers/gbsn, 4) and completed lens (docs/papers/lens, 7)."""

from itertools import product

import numpy as np
import pytest
from mpi.machine.ranks import everyone
from mpi.programs.passes import KINDS, PORTS, Tangle, machine_for, mixed_program
from serial.gbsn.reference import rotl
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.trace import Trace
from mpinet.machine.transport import world
from mpinet.programs import ascend
from mpinet.programs.broadcast import broadcast
from mpinet.programs.schedules.gbsn import Sections
from mpinet.programs.schedules.lens import RowSweeps
from mpinet.programs.schedules.moves import MoveSends, merge

NETWORKS = [
    "bsn:1,1,1", "bsn:1,1,5", "bsn:1,2,4", "bsn:2,2,4", "bsn:2,2,3", "bsn:2,2,5", "bsn:3,3,7",
    "bsn:1,3,8", "bsn:2,4,6", "bsn:4,4,4", "bsn:1,5,8", "bsn:1,1,6",
]  # fmt: skip
LENSES = ["clens:3,2", "clens:3,3", "clens:3,4", "clens:3,6"]
PROGRAMS = [
    ("prefix", "ascend"), ("fft", "ascend"), ("fft", "descend"), ("bitonic-sort", "descend"),
]  # fmt: skip


@pytest.fixture(scope="module")
def transport():
    return world()


def numbers_of(name):
    """The numbers behind a name's colon."""
    return [int(part) for part in name.partition(":")[2].split(",")]


def way_home(section, b, n):
    """Shifts by b from an offset of n bits to 0, the shorter way round."""
    rotations = next(t for t in range(1, n + 1) if t * b % n == 0)
    return min(section, rotations - section)


def bsn_steps(b, n, low, high):
    """A pass over [low, high): to its first section, through all of them, and home."""
    first, last = low // b, (high - 1) // b
    return way_home(first, b, n) + high - low + last - first + way_home(last, b, n)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_full_pass_on_a_bsn_takes_the_steps_of_the_spec(transport, name):
    _, b, n = numbers_of(name)
    p = -(-n // b)
    steps = n + (p - 1) + way_home(p - 1, b, n)
    if n % b == 0 and p >= 2:
        assert steps == n + p
    for ports, kind in product(PORTS, KINDS):
        machine = machine_for(transport, name, ports)
        result = ascend.run(machine, Tangle((kind, 0, n)), kind)
        assert result.correct
        assert (result.algorithm, result.elements) == ("sections", 2**n)
        assert result.steps == machine.steps == steps == bsn_steps(b, n, 0, n)
        assert sum(count for _, count in result.phases) == steps


@pytest.mark.parametrize("name", ["bsn:1,1,5", "bsn:2,2,4", "bsn:2,2,5", "bsn:1,3,7", "bsn:3,3,3"])
def test_a_pass_over_a_range_shifts_there_and_home_the_shorter_ways(transport, name):
    _, b, n = numbers_of(name)
    machine = machine_for(transport, name, "one")
    for low, high, kind in product(range(n + 1), range(n + 1), KINDS):
        if low <= high:
            result = ascend.run(machine, Tangle((kind, low, high)))
            assert result.correct
            assert result.steps == (bsn_steps(b, n, low, high) if low < high else 0)


@pytest.mark.costly
@pytest.mark.parametrize("name", ["bsn:1,2,4", "bsn:2,2,5", "bsn:1,3,6", "bsn:1,1,6"])
def test_fft_sort_and_prefix_take_the_steps_of_their_passes_on_a_bsn(transport, name):
    _, b, n = numbers_of(name)
    passes = {"bitonic-sort": sum(bsn_steps(b, n, 0, s) for s in range(1, n + 1))}
    for ports, (operator, kind) in product(PORTS, PROGRAMS):
        result = ascend.run(machine_for(transport, name, ports, 2), operator, kind)
        assert result.correct
        assert result.steps == passes.get(operator, bsn_steps(b, n, 0, n))


@pytest.mark.parametrize("name", NETWORKS)
def test_everybody_learns_the_minimum_without_the_way_home(transport, name):
    _, b, n = numbers_of(name)
    p = -(-n // b)
    values = np.random.default_rng(n).permutation(2**n)
    for ports in PORTS:
        machine = machine_for(transport, name, ports, seed=b)
        result = ascend.run(
            machine, "min", algorithm="unaligned", values=lambda index: values[index]
        )
        assert result.steps == machine.steps == n + p - 1
        assert result.correct and not result.values.any()
        assert len(result.values) == len(machine.nodes)
        homes = [rotl(int(node), (p - 1) * b, n) for node in machine.nodes]
        assert result.index.tolist() == homes


def test_unaligned_passes_follow_each_other_where_they_are(transport):
    program, b, n = mixed_program(5), 2, 5
    rotations, offset, steps = 5, 0, 0
    for kind, low, high in program:
        sections = [j // b for j in range(low, high)]
        for section in sections if kind == "ascend" else sections[::-1]:
            way = (section - offset) % rotations
            steps, offset = steps + min(way, rotations - way) + 1, section
    operator = Tangle(*program)
    wanted = operator.expected(operator.draw(0, n, np.arange(2**n)))
    for seed in (None, 4):
        machine = machine_for(transport, "bsn:2,2,5", "one", seed)
        result = ascend.run(machine, operator, algorithm="unaligned")
        assert (result.correct, result.steps) == (True, steps)
        assert result.values.tolist() == wanted[result.index].tolist()


EQUAL_BLOCKS = {
    "gbsn:2,m=4-4-4-4,a=1": "bsn:1,2,4",
    "gbsn:2,m=4-4-4-4,a=2": "bsn:2,2,4",
    "gbsn:2,m=4-4-4-4-4-4-4-4,a=1": "bsn:1,2,5",
    "gbsn:1,m=2-2-2-2,a=1,completed=no": "bsn:1,1,3",
    "gbsn:3,m=8-8,a=3": "bsn:3,3,4",
    "gbsn:3,m=8,a=1": "bsn:1,3,3",
}


def sends_of(machine):
    """Everything that has been sent on the machine, ports included."""
    return together(everyone, [tuple(move[:4]) for move in moves_of(machine)])


@pytest.mark.parametrize(("name", "same"), EQUAL_BLOCKS.items())
def test_a_gbsn_that_is_a_bsn_does_what_the_bsn_does(transport, name, same):
    for ports in PORTS:
        found = []
        for network in (name, same):
            machine = Machine(network, ports, transport, trace=Trace())
            for algorithm in (None, "unaligned"):
                result = ascend.run(machine, "sum", algorithm=algorithm)
                assert result.correct
                found.append((network, result.algorithm, result.phases))
            told = broadcast(machine, 1, "sections")
            assert told.informed == machine.topology.size
            found.append((network, told, sends_of(machine)))
        half = len(found) // 2
        assert [row[1:] for row in found[:half]] == [row[1:] for row in found[half:]]


def test_the_subsections_of_a_gbsn_are_those_of_the_bsn(transport):
    results = []
    for network in ("gbsn:2,m=4-4-4-4-4-4-4-4,a=2", "bsn:2,2,5"):
        machine = Machine(network, "all", transport, trace=Trace())
        results.append((broadcast(machine, 9, "subsections"), sends_of(machine)))
    assert results[0] == results[1]
    assert results[0][0].steps == 3 + 3 - 1


@pytest.mark.parametrize(
    "name",
    [
        "gbsn:1,m=4-4-4-4,a=1", "gbsn:2,m=4-4-4,a=1", "gbsn:2,m=4-4-4-3,a=1", "gbsn:3,m=8-8,a=2",
        "gbsn:2,m=4-4,a=1-2",
    ],
)  # fmt: skip
def test_other_gbsns_emulate_a_bsn_unless_they_are_the_literal_network(transport, name):
    topology = mpinet.open(name)
    assert topology.guest.name == f"bsn:1,{topology.shift},{topology.bits}"
    assert {*topology.ascend_schedules} - {"routed"} == {"sections", "unaligned"}
    assert set(topology.schedules(0)) == {"routes"}
    literal = mpinet.open(f"{name},completed=no")
    assert literal.guest is None
    with pytest.raises(UsageError, match=r"sections needs a block shift network"):
        ascend.run(machine_for(transport, literal), "sum", algorithm=Sections)


def test_two_exchanges_in_a_step_are_refused_on_a_bsn(transport):
    class Hasty(Sections):
        def _exchange(self, sweep, j, section, registers):
            nodes = self.machine.nodes
            everyone = np.arange(len(nodes))

            def sends():
                return merge(MoveSends(everyone, nodes ^ 1), MoveSends(everyone, nodes ^ 2))

            self._moves.move("both", registers, sends, lambda origins, receivers: 1)

    with pytest.raises(ModelViolation, match=r"Step 1: processor .* at most 1 message"):
        ascend.run(machine_for(transport, "bsn:1,2,4", "one"), "sum", algorithm=Hasty)


def test_stages_on_a_bsn_are_sections_and_the_way_home(transport):
    up = ascend.run(machine_for(transport, "bsn:1,3,7"), Tangle(("ascend", 0, 7)))
    assert up.phases == [("section 0", 3), ("section 1", 4), ("section 2", 2), ("home", 2)]
    down = ascend.run(machine_for(transport, "bsn:1,3,7"), Tangle(("descend", 0, 7)))
    assert down.phases == [("section 2", 3), ("section 1", 4), ("section 0", 4)]


def lens_steps(n, low, high, swift, accepts):
    """A pass over [low, high): a step a dimension, and a second one for some of the active ones."""
    return n if swift and accepts == "all" else n + high - low


@pytest.mark.parametrize("algorithm", ["rows", "mirrored"])
@pytest.mark.parametrize("name", LENSES)
def test_a_full_pass_on_a_completed_lens_takes_the_steps_of_the_spec(transport, name, algorithm):
    _, n = numbers_of(name)
    for ports, kind in product(PORTS, KINDS):
        machine = machine_for(transport, name, ports)
        result = ascend.run(machine, Tangle((kind, 0, n)), kind, algorithm=algorithm)
        assert result.correct
        assert (result.algorithm, result.elements) == (algorithm, 2**n)
        to_the_right = (kind == "ascend") == (algorithm == "rows")
        assert result.steps == machine.steps == (n if to_the_right and ports == "all" else 2 * n)
        assert machine.messages == 2**n * result.steps


@pytest.mark.parametrize("algorithm", ["rows", "mirrored"])
def test_a_pass_over_a_range_goes_round_all_rows_of_the_lens(transport, algorithm):
    n = 4
    for ports in PORTS:
        machine = machine_for(transport, "clens:3,4", ports)
        for low, high, kind in product(range(n), range(1, n + 1), KINDS):
            if low < high:
                result = ascend.run(machine, Tangle((kind, low, high)), algorithm=algorithm)
                assert result.correct
                swift = (kind == "ascend") == (algorithm == "rows")
                assert result.steps == lens_steps(n, low, high, swift, ports)
        assert ascend.run(machine, Tangle(("ascend", 2, 2)), algorithm=algorithm).steps == 0


@pytest.mark.costly
@pytest.mark.parametrize("name", ["clens:3,2", "clens:3,4", "clens:3,5"])
def test_fft_sort_and_prefix_take_the_steps_of_their_passes_on_a_lens(transport, name):
    _, n = numbers_of(name)
    for ports, algorithm, (operator, kind) in product(PORTS, ("rows", "mirrored"), PROGRAMS):
        machine = machine_for(transport, name, ports, 2)
        result = ascend.run(machine, operator, kind, algorithm=algorithm)
        swift = (kind == "ascend") == (algorithm == "rows")
        highs = range(1, n + 1) if operator == "bitonic-sort" else [n]
        assert result.correct
        assert result.steps == sum(lens_steps(n, 0, high, swift, ports) for high in highs)


def test_elements_of_a_lens_are_at_home_in_the_last_row(transport):
    machine = machine_for(transport, "clens:3,5", seed=3)
    addresses = [machine.topology.address(int(node)) for node in machine.nodes]
    words = [address[:-1] for address in addresses if address.endswith(".")]
    rows = ascend.run(machine, "sum", algorithm="rows")
    assert rows.index.tolist() == [int(word[::-1], 2) for word in words]
    mirrored = ascend.run(machine, "sum", algorithm="mirrored")
    assert mirrored.index.tolist() == [int(word, 2) for word in words]


def test_a_lens_that_hears_all_busses_needs_no_more_than_one_sending_port(transport):
    model = PortModel(send=1)
    result = ascend.run(machine_for(transport, "clens:3,5", model), "prefix")
    assert (result.correct, result.steps) == (True, 5)


def test_hearing_both_operands_at_once_is_refused_where_one_is_accepted(transport):
    class Hasty(RowSweeps):
        def __init__(self, machine):
            super().__init__(machine)
            self._accepts_one = False

    with pytest.raises(ModelViolation, match="accepts at most 1 message"):
        ascend.run(machine_for(transport, "clens:3,3", "one"), "sum", algorithm=Hasty)


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("bsn:2,2,5", "sections"), ("bsn:1,3,6", "sections"), ("clens:3,2", "rows"),
        ("clens:3,4", "rows"), ("clens:3,4", "mirrored"),
    ],
)  # fmt: skip
def test_programs_give_the_same_on_any_mapping(transport, name, algorithm):
    q = numbers_of(name)[-1]
    operator = Tangle(*mixed_program(q))
    wanted = operator.expected(operator.draw(0, q, np.arange(2**q)))
    for ports in PORTS:
        stages = set()
        for seed in (None, 3, 8):
            machine = machine_for(transport, name, ports, seed)
            result = ascend.run(machine, operator, algorithm=algorithm)
            assert result.correct
            assert result.values.tolist() == wanted[result.index].tolist()
            assert machine.sum(len(result.index))[0] == 2**q
            stages.add(tuple(result.phases))
        assert len(stages) == 1


@pytest.mark.parametrize(
    ("name", "algorithm", "sentence"),
    [
        ("clens:4,2", "rows", "There is no ASCEND algorithm 'rows' for clens:4,2"),
        ("clens:4,2", RowSweeps, "The algorithm rows needs a completed lens with p = 2^b + 1"),
        ("lens:3,3,2", RowSweeps, "The algorithm rows needs a completed lens with p = 2^b + 1"),
        ("hypercube:3", "sections", "There is no ASCEND algorithm 'sections'"),
    ],
)
def test_networks_that_are_no_hosts_get_a_sentence(transport, name, algorithm, sentence):
    with pytest.raises(UsageError) as error:
        ascend.run(machine_for(transport, name), "sum", algorithm=algorithm)
    assert str(error.value).startswith(sentence)


def test_other_completed_lenses_are_routed(transport):
    result = ascend.run(machine_for(transport, "clens:2,8"), "prefix")
    assert (result.algorithm, result.elements, result.correct) == ("routed", 8, True)
