"""ASCEND and DESCEND on all processors of a lens, on its rows, n at once (docs/papers/lens, 7)."""

import numpy as np
import pytest
from mpi.programs.passes import KINDS, PORTS, Tangle, machine_for, mixed_program

from mpinet.errors import ModelViolation, UsageError
from mpinet.machine.transport import world
from mpinet.programs import ascend
from mpinet.programs.operators import Pass
from mpinet.programs.schedules import find_schedule
from mpinet.programs.schedules.lens import Instances, RowSweeps
from mpinet.programs.schedules.lens_full import Full
from mpinet.programs.schedules.lens_uncompleted import ThereAndBack

FULL = ["clens:3,2", "clens:3,4", "clens:3,8", "clens:5,2", "clens:9,2"]
COMPLETED = ["clens:3,2", "clens:5,3", "clens:9,2"]
UNCOMPLETED = ["lens:3,3,1", "lens:3,3,2", "lens:3,3,5", "lens:5,5,3"]


@pytest.fixture(scope="module")
def transport():
    return world()


def numbers_of(name):
    """p and n: the first number behind a name's colon, and the last one."""
    numbers = [int(part) for part in name.partition(":")[2].split(",")]
    return numbers[0], numbers[-1]


def bits_of(number):
    return number.bit_length() - 1


def counted(machine, algorithm, kind, q):
    """Steps and elements of a full pass, whose result has to be right."""
    result = ascend.run(machine, Tangle((kind, 0, q)), kind, algorithm=algorithm)
    assert result.correct
    assert result.steps == machine.steps == sum(steps for _, steps in result.phases)
    return result.steps, result.elements


def slow(kind, algorithm):
    """Whether this pass sweeps to the left."""
    return (kind == "ascend") == algorithm.endswith("mirrored")


@pytest.mark.parametrize("algorithm", ["full", "full-mirrored"])
@pytest.mark.parametrize("name", FULL)
def test_all_processors_of_a_completed_lens_take_4n_minus_2_steps(transport, name, algorithm):
    p, n = numbers_of(name)
    size = n * (p - 1) ** n
    for kind in KINDS:
        machine = machine_for(transport, name)
        steps = 2 * (n - 1) + (4 * n - 1 if slow(kind, algorithm) else 2 * n)
        assert counted(machine, algorithm, kind, bits_of(size)) == (steps, size)
        assert slow(kind, algorithm) or steps == 4 * n - 2


@pytest.mark.parametrize("algorithm", ["full", "full-mirrored"])
@pytest.mark.parametrize("name", FULL)
def test_with_one_port_every_turn_but_the_last_takes_a_step_for_each_of_a_box(
    transport, name, algorithm
):
    p, n = numbers_of(name)
    size = n * (p - 1) ** n
    for kind in KINDS:
        steps = 2 * (n - 1) + (2 * n - 1) * (p - 1) + 1
        machine = machine_for(transport, name, "one")
        assert counted(machine, algorithm, kind, bits_of(size)) == (steps, size)
        assert p > 3 or steps == 6 * n - 3


@pytest.mark.costly
@pytest.mark.parametrize("ports", PORTS)
@pytest.mark.parametrize("algorithm", ["rows", "mirrored", "instances", "instances-mirrored"])
@pytest.mark.parametrize("name", COMPLETED)
def test_a_round_of_the_rows_takes_n_steps_or_n_times_p_minus_1(transport, name, algorithm, ports):
    p, n = numbers_of(name)
    elements = (p - 1) ** n
    for kind in KINDS:
        steps = 2 * n if slow(kind, algorithm) else n
        steps = n * (p - 1) if ports == "one" else steps
        machine = machine_for(transport, name, ports)
        held = n * elements if "instances" in algorithm else elements
        assert counted(machine, algorithm, kind, bits_of(elements)) == (steps, held)
        assert machine.messages == held * steps


def test_n_instances_keep_every_bus_busy_in_every_step(transport):
    machine = machine_for(transport, "clens:3,4")
    steps, _ = counted(machine, "instances", "ascend", 4)
    assert machine.messages == machine.topology.busses * steps


@pytest.mark.parametrize("ports", PORTS)
@pytest.mark.parametrize(("algorithm", "mirrored"), [("rows", False), ("mirrored", True)])
@pytest.mark.parametrize("name", UNCOMPLETED)
def test_an_uncompleted_lens_takes_n_steps_there_and_n_minus_1_home(
    transport, name, algorithm, mirrored, ports
):
    p, n = numbers_of(name)
    elements = (p - 1) ** n
    working = n * (p - 1) - 1 if ports == "one" else n
    swift, other = ("descend", "ascend") if mirrored else ("ascend", "descend")
    machine = machine_for(transport, name, ports)
    assert counted(machine, None if not mirrored else algorithm, swift, bits_of(elements)) == (
        working + n - 1,
        elements,
    )
    machine = machine_for(transport, name, ports)
    working = n * (p - 1) - 1 if ports == "one" else 2 * n - 1
    assert counted(machine, algorithm, other, bits_of(elements)) == (n - 1 + working, elements)


def test_stages_are_dimensions_rounds_and_ways(transport):
    def phases(name, kind):
        return ascend.run(machine_for(transport, name), "sum", kind).phases

    assert phases("clens:3,4", "ascend") == [("dimension 0", 2), ("dimension 1", 4), ("rounds", 8)]
    assert phases("clens:5,2", "descend") == [("rounds", 7), ("dimension 0", 2)]
    assert phases("clens:5,3", "ascend") == [
        ("dimensions 0..1", 1), ("dimensions 2..3", 1), ("dimensions 4..5", 1)
    ]  # fmt: skip
    assert phases("lens:3,3,3", "ascend") == [
        ("dimension 0", 1), ("dimension 1", 1), ("dimension 2", 1), ("home", 2)
    ]  # fmt: skip
    assert phases("lens:3,3,3", "descend") == [
        ("out", 2), ("dimension 2", 2), ("dimension 1", 2), ("dimension 0", 1)
    ]  # fmt: skip


@pytest.mark.parametrize("ports", PORTS)
@pytest.mark.parametrize("algorithm", ["full", "full-mirrored"])
def test_a_range_on_all_processors_takes_its_visits_and_two_rounds(transport, algorithm, ports):
    r, n = 2, 4
    machine = machine_for(transport, "clens:3,4", ports)
    for low, high in (0, 1), (0, 3), (1, 2), (1, 5), (2, 3), (2, 6), (4, 5):
        for kind in KINDS:
            visits = sum(2 * 2**j for j in range(low, min(high, r)))
            meetings = high - max(low, r) + n - 1  # turns in which any digit is worked on
            swift = ports == "all" and not slow(kind, algorithm)
            rounds = 2 * n + (0 if swift else meetings) if high > r else 0
            result = ascend.run(machine, Tangle((kind, low, high)), algorithm=algorithm)
            assert (result.correct, result.steps) == (True, visits + rounds)
    assert ascend.run(machine, Tangle(("ascend", 3, 3)), algorithm=algorithm).steps == 0


def test_a_range_on_an_uncompleted_lens_goes_no_further_than_it_has_to(transport):
    machine = machine_for(transport, "lens:3,3,4")
    for low in range(4):
        for high in range(low + 1, 5):
            way = high - 1
            up = ascend.run(machine, Tangle(("ascend", low, high)))
            assert (up.correct, up.steps) == (True, (low == 0) + way + way)
            down = ascend.run(machine, Tangle(("descend", low, high)))
            assert (down.correct, down.steps) == (True, way + (high - low) + way)


def test_a_range_may_begin_and_end_within_a_digit(transport):
    for name in ("clens:9,2", "lens:9,9,2"):
        machine = machine_for(transport, name)
        for low, high in (0, 2), (1, 2), (1, 6), (2, 4), (3, 5):
            operator = Tangle(("ascend", low, high), ("descend", low, high))
            assert ascend.run(machine, operator, algorithm="rows").correct


def gaps_and_digits(machine):
    """Of each of this rank's processors the dot's place on the circle, and the digits."""
    for node in machine.nodes:
        before, _, after = machine.topology.address(int(node)).partition(".")
        digits = [int(digit) for digit in before + after]
        yield len(before) % len(digits), digits


@pytest.mark.parametrize(("name", "radix"), [("clens:3,4", 2), ("clens:5,2", 4), ("clens:3,2", 2)])
def test_elements_are_where_the_spec_has_them(transport, name, radix):
    machine = machine_for(transport, name, seed=5)
    n = machine.topology.level
    places = list(gaps_and_digits(machine))
    full = find_schedule(machine.topology, None)(machine)
    assert full.index.tolist() == [
        gap + n * sum(digit * radix**j for j, digit in enumerate(digits)) for gap, digits in places
    ]
    instances = find_schedule(machine.topology, "instances")(machine)
    assert instances.index.tolist() == [
        sum(digits[(gap + j) % n] * radix**j for j in range(n)) for gap, digits in places
    ]
    mirrored = find_schedule(machine.topology, "instances-mirrored")(machine)
    assert mirrored.index.tolist() == [
        sum(digits[(gap + j) % n] * radix ** (n - 1 - j) for j in range(n))
        for gap, digits in places
    ]


def test_elements_of_an_uncompleted_lens_are_at_home_in_the_first_row(transport):
    machine = machine_for(transport, "lens:5,5,3", seed=2)
    first = [digits for gap, digits in gaps_and_digits(machine) if gap == 1]
    schedule = find_schedule(machine.topology, None)(machine)
    assert schedule.index.tolist() == [a + 4 * b + 16 * c for a, b, c in first]


def test_each_instance_has_inputs_of_its_own(transport):
    operator = Tangle(("ascend", 0, 4))
    machine = machine_for(transport, "clens:3,4", seed=6)
    result = ascend.run(machine, operator, algorithm="instances", values=lambda i: i * i)
    wanted = [operator.expected(np.arange(16 * s, 16 * s + 16) ** 2) for s in range(4)]
    assert result.correct
    assert result.values.tolist() == np.concatenate(wanted)[result.index].tolist()
    assert machine.sum(len(np.unique(result.index)))[0] == result.elements == 64
    drawn = ascend.run(machine, "shift:0", algorithm="instances")
    assert machine.sum(len(np.unique(drawn.values)))[0] == 64


@pytest.mark.parametrize("ports", PORTS)
@pytest.mark.parametrize("name", ["clens:3,4", "clens:5,2", "clens:3,3"])
@pytest.mark.parametrize("algorithm", ["instances", "instances-mirrored"])
def test_instances_have_nothing_to_do_with_each_other(transport, name, algorithm, ports):
    machine = machine_for(transport, name, ports, seed=4)
    schedule = find_schedule(machine.topology, algorithm)(machine)
    q, n = schedule.dimensions, machine.topology.level
    instance = np.array([gap for gap, _ in gaps_and_digits(machine)], dtype=int)
    inputs = np.random.default_rng(7).integers(0, 9973, (n, 2**q))
    program = ("ascend", 0, q), ("descend", 0, q), ("ascend", 1, q), ("descend", 0, 1)
    state = inputs[instance, schedule.index]
    operator = Tangle(*program)
    schedule.carry_out([Pass(*given, operator.oper) for given in program], state)
    wanted = np.array([operator.expected(values) for values in inputs])
    assert state.tolist() == wanted[instance, schedule.index].tolist()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("clens:3,4", "full"), ("clens:5,2", "full-mirrored"), ("clens:3,3", "instances"),
        ("lens:3,3,4", "rows"), ("lens:5,5,2", "mirrored"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("operator", "kind"),
    [("prefix", "ascend"), ("fft", "ascend"), ("fft", "descend"), ("bitonic-sort", "descend")],
)
def test_fft_sort_and_prefix_are_right_on_every_lens(transport, name, algorithm, operator, kind):
    for ports in PORTS:
        machine = machine_for(transport, name, ports, seed=2)
        assert ascend.run(machine, operator, kind, algorithm=algorithm).correct


def test_a_sort_on_all_processors_is_a_round_for_each_length(transport):
    n, r, q = 4, 2, 6
    result = ascend.run(machine_for(transport, "clens:3,4"), "bitonic-sort", "descend")
    rounds = sum(2 * n + (high - r) + n - 1 for high in range(r + 1, q + 1))
    visits = 2 + (q - 1) * (2 + 4)
    assert (result.algorithm, result.correct, result.steps) == ("full", True, rounds + visits)


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("clens:3,4", "full"), ("clens:5,2", "full-mirrored"), ("lens:3,3,3", "rows")],
)
def test_programs_give_the_same_on_any_mapping(transport, name, algorithm):
    q = {"clens:3,4": 6, "clens:5,2": 5, "lens:3,3,3": 3}[name]
    operator = Tangle(*mixed_program(q))
    wanted = operator.expected(operator.draw(0, q, np.arange(2**q)))
    steps = set()
    for seed in (None, 3, 8):
        machine = machine_for(transport, name, "all", seed)
        result = ascend.run(machine, operator, algorithm=algorithm)
        assert result.values.tolist() == wanted[result.index].tolist()
        assert machine.sum(len(result.index))[0] == 2**q
        steps.add(tuple(result.phases))
    assert len(steps) == 1


@pytest.mark.parametrize(
    ("schedule", "name"), [(Full, "clens:3,4"), (Instances, "clens:3,3"), (RowSweeps, "clens:5,2")]
)
def test_hearing_a_whole_box_is_refused_where_one_message_is_accepted(transport, schedule, name):
    class Hasty(schedule):
        def __init__(self, machine):
            super().__init__(machine)
            self._accepts_one = False

    with pytest.raises(ModelViolation, match=r"processor \d+ .* accepts at most 1 message"):
        ascend.run(machine_for(transport, name, "one"), "sum", algorithm=Hasty)


def test_siblings_that_share_a_lower_bus_are_refused(transport):
    class Crowded(ThereAndBack):
        def __init__(self, machine):
            super().__init__(machine)
            self.ports.digits[:] = 0

    with pytest.raises(ModelViolation, match=r"Step 1: .*carries one transmission in a step"):
        ascend.run(machine_for(transport, "lens:3,3,3"), "sum", algorithm=Crowded)


def test_a_visitor_that_also_goes_home_at_once_is_refused(transport):
    class Hasty(Full):
        def move_right(self, heard, registers):
            rows = np.concatenate([self.at[row - 1] for row in heard])
            slots, ports = np.tile(rows, 2), [self.ports.right(rows, 0), self.ports.left(rows)]
            self.machine.step(self.machine.nodes[slots], np.concatenate(ports))

    model = machine_for(transport, "clens:3,4", "one")
    with pytest.raises(ModelViolation, match=r"Step 1: .* at most 1 message"):
        ascend.run(model, "sum", algorithm=Hasty)


@pytest.mark.parametrize(
    ("name", "algorithm", "sentence"),
    [
        ("clens:3,3", "full", "There is no ASCEND algorithm 'full' for clens:3,3"),
        ("clens:3,3", Full, "The algorithm full needs a completed lens with p = 2^b + 1, b > 0, "
         "and n = 2^r, as clens:3,4, and is given clens:3,3."),
        ("lens:3,3,4", Full, "The algorithm full needs a completed lens"),
        ("plens:3,12", RowSweeps, "The algorithm rows needs a completed lens"),
        ("lens:3,5,2", ThereAndBack, "The algorithm rows needs a lens with p = q = 2^b + 1"),
        ("clens:3,4", ThereAndBack, "The algorithm rows needs a lens with p = q = 2^b + 1"),
        ("clens:4,3", None, "ASCEND and DESCEND need 2^q processors, and clens:4,3 has 81."),
    ],
)  # fmt: skip
def test_lenses_that_are_no_hosts_get_a_sentence(transport, name, algorithm, sentence):
    with pytest.raises(UsageError) as error:
        ascend.run(machine_for(transport, name), "sum", algorithm=algorithm)
    assert str(error.value).startswith(sentence)
