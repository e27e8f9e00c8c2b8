"""ASCEND and DESCEND on the BSN (spec of GBSN, 4) and on the completed lens (spec of lens, 7)."""

import numpy as np
import pytest

from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.placement import scattered
from mpinet.machine.transport import world
from mpinet.networks.lens.ascend import Rows
from mpinet.programs import ascend
from mpinet.programs.operators import Operator, Pass

MODULUS = 65537
NETWORKS = [
    "bsn:1,1,1", "bsn:1,1,5", "bsn:1,2,4", "bsn:2,2,4", "bsn:2,2,3", "bsn:2,2,5", "bsn:3,3,7",
    "bsn:1,3,8", "bsn:2,4,6", "bsn:4,4,4", "bsn:1,5,8", "bsn:1,1,6",
]  # fmt: skip
LENSES = ["clens:3,2", "clens:3,3", "clens:3,4", "clens:3,6"]


@pytest.fixture(scope="module")
def transport():
    return world()


class Tangle(Operator):
    """Passes over ranges of dimensions, in which every pair, order and dimension counts."""

    name = "tangle"

    def __init__(self, *ranges):
        self.ranges = ranges

    def passes(self, kind, q):
        return [Pass(kind, low, high, self.oper) for kind, low, high in self.ranges]

    def oper(self, j, i, low, high):
        return (3 * low + 5 * high + i * j) % MODULUS, (7 * low - high * i + j + 1) % MODULUS

    def expected(self, values):
        a = [int(value) for value in values]
        for kind, low, high in self.ranges:
            upwards = range(low, high)
            for j in upwards if kind == "ascend" else reversed(upwards):
                for i in range(len(a)):
                    if not i >> j & 1:
                        a[i], a[i + 2**j] = self.oper(j, i, a[i], a[i + 2**j])
        return np.array(a)


def machine_for(transport, name, ports="all", seed=None):
    machine = Machine(name, ports, transport)
    if seed is None:
        return machine
    return Machine(name, ports, transport, scattered(machine.topology, seed))


def numbers_of(name):
    """The numbers behind a name's colon."""
    return [int(part) for part in name.partition(":")[2].split(",")]


def way_home(section, b, n):
    """Shifts by b from an offset of n bits to 0, the shorter way round."""
    rotations = next(t for t in range(1, n + 1) if t * b % n == 0)
    return min(section, rotations - section)


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_full_pass_on_a_bsn_takes_the_steps_of_the_spec(transport, name, ports):
    _, b, n = numbers_of(name)
    p = -(-n // b)
    steps = n + (p - 1) + way_home(p - 1, b, n)
    if n % b == 0 and p >= 2:
        assert steps == n + p
    for kind in ("ascend", "descend"):
        machine = machine_for(transport, name, ports)
        result = ascend.run(machine, Tangle((kind, 0, n)), kind)
        assert result.correct
        assert (result.algorithm, result.elements) == ("sections", 2**n)
        assert result.steps == machine.steps == steps
        assert sum(count for _, count in result.phases) == steps


@pytest.mark.parametrize("name", ["bsn:1,1,5", "bsn:2,2,4", "bsn:2,2,5", "bsn:1,3,7", "bsn:3,3,3"])
def test_a_pass_over_a_range_shifts_there_and_home_the_shorter_ways(transport, name):
    _, b, n = numbers_of(name)
    machine = machine_for(transport, name, "one")
    for low in range(n + 1):
        for high in range(low, n + 1):
            first, last = low // b, max(high - 1, low) // b
            shifts = way_home(first, b, n) + last - first + way_home(last, b, n)
            for kind in ("ascend", "descend"):
                result = ascend.run(machine, Tangle((kind, low, high)))
                assert result.correct
                assert result.steps == (high - low + shifts if high > low else 0)


def test_stages_on_a_bsn_are_sections_and_the_way_home(transport):
    up = ascend.run(machine_for(transport, "bsn:1,3,7"), Tangle(("ascend", 0, 7)))
    assert up.phases == [("section 0", 3), ("section 1", 4), ("section 2", 2), ("home", 2)]
    down = ascend.run(machine_for(transport, "bsn:1,3,7"), Tangle(("descend", 0, 7)))
    assert down.phases == [("section 2", 3), ("section 1", 4), ("section 0", 4)]


def lens_steps(n, low, high, swift, accepts):
    """A pass over [low, high): a step a dimension, and a second one for some of the active ones."""
    return n if swift and accepts == "all" else n + high - low


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("algorithm", ["rows", "mirrored"])
@pytest.mark.parametrize("name", LENSES)
def test_a_full_pass_on_a_completed_lens_takes_the_steps_of_the_spec(
    transport, name, algorithm, ports
):
    _, n = numbers_of(name)
    for kind in ("ascend", "descend"):
        machine = machine_for(transport, name, ports)
        result = ascend.run(machine, Tangle((kind, 0, n)), kind, algorithm=algorithm)
        assert result.correct
        assert (result.algorithm, result.elements) == (algorithm, 2**n)
        to_the_right = (kind == "ascend") == (algorithm == "rows")
        assert result.steps == machine.steps == (n if to_the_right and ports == "all" else 2 * n)
        assert machine.messages == 2**n * result.steps


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("algorithm", ["rows", "mirrored"])
def test_a_pass_over_a_range_goes_round_all_rows_of_the_lens(transport, algorithm, ports):
    n = 4
    machine = machine_for(transport, "clens:3,4", ports)
    for low in range(n):
        for high in range(low + 1, n + 1):
            for kind in ("ascend", "descend"):
                result = ascend.run(machine, Tangle((kind, low, high)), algorithm=algorithm)
                assert result.correct
                swift = (kind == "ascend") == (algorithm == "rows")
                assert result.steps == lens_steps(n, low, high, swift, ports)
    assert ascend.run(machine, Tangle(("ascend", 2, 2)), algorithm=algorithm).steps == 0


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
    class Hasty(Rows):
        def __init__(self, machine):
            super().__init__(machine)
            self._accepts_one = False

    with pytest.raises(ModelViolation, match="accepts at most 1 message"):
        ascend.run(machine_for(transport, "clens:3,3", "one"), "sum", algorithm=Hasty)


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("bsn:2,2,5", "sections"), ("bsn:1,3,6", "sections"), ("clens:3,2", "rows"),
        ("clens:3,4", "rows"), ("clens:3,4", "mirrored"),
    ],
)  # fmt: skip
def test_programs_give_the_same_on_any_mapping(transport, name, algorithm, ports):
    q = numbers_of(name)[-1]
    program = ("ascend", 1, q), ("descend", 0, q - 1), ("descend", q - 1, q), ("ascend", 0, 2)
    operator = Tangle(*program)
    wanted = operator.expected(operator.draw(0, q, np.arange(2**q)))
    stages = set()
    for seed in (None, 3, 8):
        machine = machine_for(transport, name, ports, seed)
        result = ascend.run(machine, operator, algorithm=algorithm)
        assert result.correct
        assert result.values.tolist() == wanted[result.index].tolist()
        assert machine.sum(len(result.index))[0] == 2**q
        stages.add(tuple(result.phases))
    assert len(stages) == 1


@pytest.mark.parametrize("name", ["bsn:2,2,5", "bsn:1,2,4", "clens:3,2", "clens:3,5"])
@pytest.mark.parametrize(
    ("operator", "kind"),
    [("prefix-sum", "ascend"), ("fft", "ascend"), ("fft", "descend"), ("bitonic-sort", "descend")],
)
def test_fft_sort_and_prefix_run_on_the_papers_hosts(transport, name, operator, kind):
    for ports in ("all", "one"):
        assert ascend.run(machine_for(transport, name, ports, 2), operator, kind).correct


@pytest.mark.parametrize(
    ("name", "algorithm", "sentence"),
    [
        ("clens:5,2", "rows", "There is no ASCEND algorithm 'rows' for clens:5,2"),
        ("clens:5,2", Rows, "The algorithm rows needs a completed lens with p = 3"),
        ("lens:3,3,2", Rows, "The algorithm rows needs a completed lens with p = 3"),
        ("hypercube:3", "sections", "There is no ASCEND algorithm 'sections'"),
    ],
)
def test_networks_that_are_no_hosts_get_a_sentence(transport, name, algorithm, sentence):
    with pytest.raises(UsageError) as error:
        ascend.run(machine_for(transport, name), "sum", algorithm=algorithm)
    assert str(error.value).startswith(sentence)


def test_other_completed_lenses_are_routed(transport):
    result = ascend.run(machine_for(transport, "clens:5,2"), "prefix")
    assert (result.algorithm, result.elements, result.correct) == ("routed", 32, True)
