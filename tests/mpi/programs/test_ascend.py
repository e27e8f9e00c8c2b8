"""ASCEND and DESCEND on machines: results and steps on any number of ranks."""

from hashlib import sha256

import numpy as np
import pytest

from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.placement import scattered
from mpinet.machine.transport import world
from mpinet.programs import ascend
from mpinet.programs.operators import Operator, Pass, open_operator
from mpinet.programs.schedules.exchange import Exchange
from mpinet.programs.schedules.routed import Routed

PROGRAMS = [
    ("sum", "ascend"),
    ("min", "descend"),
    ("prefix", "ascend"),
    ("prefix-sum", "ascend"),
    ("fft", "ascend"),
    ("fft", "descend"),
    ("bitonic-merge", "descend"),
    ("bitonic-sort", "descend"),
]


@pytest.fixture(scope="module")
def transport():
    return world()


def machine_for(transport, name, ports="all", seed=None):
    machine = Machine(name, ports=ports, transport=transport)
    if seed is None:
        return machine
    mapping = scattered(machine.topology, seed)
    return Machine(machine.topology, ports=ports, transport=transport, mapping=mapping)


def digest(transport, result):
    """Of all results in the order of the elements; '' on other ranks than 0."""
    record = np.dtype([("element", np.int64), ("value", result.values.dtype)])
    rows = np.empty(len(result.index), record)
    rows["element"], rows["value"] = result.index, result.values
    everything = b"".join(transport.gather(rows.tobytes()))
    rows = np.sort(np.frombuffer(everything, record), order="element")
    return sha256(np.ascontiguousarray(rows["value"]).tobytes()).hexdigest()


class Unlike(Operator):
    """Treats both elements of a pair, every pair, dimension and order of them differently."""

    name = "unlike"
    dtype = np.dtype([("a", np.int64), ("b", np.int16)])

    def __init__(self, low, high):
        self.range = low, high

    def passes(self, kind, q):
        return [Pass(kind, *self.range, self.oper), Pass("ascend", 0, q, self.oper)]

    def prepare(self, values):
        state = np.zeros(len(values), self.dtype)
        state["a"] = values
        return state

    def oper(self, j, i, low, high):
        new_low, new_high = low.copy(), high.copy()
        new_low["a"] = (3 * low["a"] + 5 * high["a"] + i * j) % 65537
        new_high["a"] = (7 * low["a"] - high["a"] * i + 1) % 65537
        new_low["b"], new_high["b"] = high["b"] + 1, low["b"] - j
        return new_low, new_high

    def finish(self, state):
        return state["a"] * 1000 + state["b"]

    def by_definition(self, values, kind, q):
        a, b = [int(value) for value in values], [0] * len(values)
        first = range(*self.range) if kind == "ascend" else reversed(range(*self.range))
        for j in [*first, *range(q)]:
            for i in range(len(a)):
                if not i >> j & 1:
                    k = i + 2**j
                    a[i], a[k] = (
                        (3 * a[i] + 5 * a[k] + i * j) % 65537,
                        (7 * a[i] - a[k] * i + 1) % 65537,
                    )
                    b[i], b[k] = b[k] + 1, b[i] - j
        return np.array(a) * 1000 + np.array(b)


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize(("name", "kind"), PROGRAMS)
def test_hypercube_needs_a_step_a_dimension(transport, name, kind, ports):
    machine = machine_for(transport, "hypercube:6", ports)
    result = ascend.run(machine, name, kind, seed=5)
    assert result.correct
    assert result.algorithm == "exchange"
    assert result.elements == 64
    assert result.steps == machine.steps == (6 * 7 // 2 if name == "bitonic-sort" else 6)
    assert sum(steps for _, steps in result.phases) == result.steps
    assert machine.messages == 64 * result.steps


def test_phases_are_dimensions_of_one_pass_or_passes(transport):
    one = ascend.run(machine_for(transport, "hypercube:3"), "fft", "descend")
    assert one.phases == [("dimension 2", 1), ("dimension 1", 1), ("dimension 0", 1)]
    several = ascend.run(machine_for(transport, "hypercube:3"), "bitonic-sort", "descend")
    assert several.phases == [("descend 0..0", 1), ("descend 1..0", 2), ("descend 2..0", 3)]


@pytest.mark.parametrize(("name", "kind"), PROGRAMS)
def test_results_do_not_depend_on_ranks_or_mapping(transport, name, kind):
    alone = Machine("hypercube:6")
    reference = digest(alone.transport, ascend.run(alone, name, kind))
    for seed in (None, 1, 2):
        result = ascend.run(machine_for(transport, "hypercube:6", seed=seed), name, kind)
        assert result.correct
        mine = digest(transport, result)
        assert transport.rank > 0 or mine == reference


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize(
    "network",
    ["ring:16", "torus:4x8", "debruijn:4", "shuffleexchange:4", "mesh:4x4", "fattree:4,2"],
)
def test_routed_exchanges_serve_any_network_of_2_to_the_q(transport, network, ports):
    for name, kind in (("prefix", "ascend"), ("fft", "descend")):
        for seed in (None, 4):
            machine = machine_for(transport, network, ports, seed)
            result = ascend.run(machine, name, kind, algorithm="routed")
            assert result.correct
            assert result.algorithm == "routed"
            assert result.steps == machine.steps == sum(steps for _, steps in result.phases)
            assert result.elements == machine.topology.hosts


def test_routed_sort_on_a_ring(transport):
    ring = machine_for(transport, "ring:16")
    assert ascend.run(ring, "bitonic-sort", "descend", algorithm="routed").correct


def test_a_routed_dimension_takes_at_least_the_partners_distance(transport):
    result = ascend.run(machine_for(transport, "ring:16"), "sum", algorithm="routed")
    assert [steps >= 2**j for j, (_, steps) in enumerate(result.phases)] == [True] * 4
    assert result.phases[0] == ("dimension 0", 1)


def test_routed_and_direct_exchange_agree_on_the_hypercube(transport):
    direct = ascend.run(machine_for(transport, "hypercube:5"), "fft")
    routed = ascend.run(machine_for(transport, "hypercube:5"), "fft", algorithm="routed")
    assert routed.phases == direct.phases
    assert routed.values.tobytes() == direct.values.tobytes()


@pytest.mark.parametrize("network", ["hypercube:5", "complete:32", "ring:32", "torus:4x8"])
@pytest.mark.parametrize("kind", ["ascend", "descend"])
def test_an_operator_sees_which_pair_it_has_and_in_which_order(transport, network, kind):
    operator = Unlike(1, 4)
    operator.expected = lambda values: operator.by_definition(values, kind, 5)
    for seed in (None, 9):
        machine = machine_for(transport, network, "one", seed)
        assert ascend.run(machine, operator, kind).correct


def test_elements_are_at_home_and_the_users_own_values_are_taken(transport):
    machine = machine_for(transport, "hypercube:4", seed=3)
    result = ascend.run(machine, "prefix-sum", values=lambda index: index**2)
    assert result.index.tolist() == machine.nodes.tolist()
    wanted = [sum(k * k for k in range(i + 1)) for i in result.index]
    assert result.values.tolist() == wanted


def test_a_wrong_result_of_one_processor_is_known_to_all_ranks(transport):
    class OneOff(type(open_operator("sum"))):
        def finish(self, state):
            return state + (machine.nodes == 13)

    machine = machine_for(transport, "hypercube:4")
    assert ascend.run(machine, OneOff()).correct is False


def test_watchers_hear_of_the_steps(transport):
    heard = []
    ascend.run(machine_for(transport, "hypercube:4"), "sum", watch=heard.append)
    assert heard == [1, 2, 3, 4]


def test_a_schedule_of_the_users_own_is_taken(transport):
    class Twice(Routed):
        name = "twice"

        def partners(self, j, state):
            super().partners(j, state)
            return super().partners(j, state)

    result = ascend.run(machine_for(transport, "hypercube:4"), "min", algorithm=Twice)
    assert (result.algorithm, result.steps, result.correct) == ("twice", 8, True)


def test_the_machine_forbids_an_exchange_over_half_duplex_links(transport):
    half = PortModel(half_duplex=True)
    with pytest.raises(ModelViolation, match="half-duplex link carries one message"):
        ascend.run(machine_for(transport, "hypercube:3", half), "sum")
    routed = ascend.run(machine_for(transport, "hypercube:3", half), "sum", algorithm="routed")
    assert routed.correct
    assert routed.steps == 6


def test_the_machine_forbids_a_second_message_of_a_one_port_processor(transport):
    class Greedy(Exchange):
        name = "greedy"

        def partners(self, j, state):
            nodes, ports = np.repeat(self.index, 2), np.tile([j, (j + 1) % 3], len(self.index))
            self.machine.step(nodes, ports, np.repeat(state, 2))

    with pytest.raises(ModelViolation, match=r"Step 1: processor .* sends at most 1 message"):
        ascend.run(machine_for(transport, "hypercube:3", "one"), "sum", algorithm=Greedy)


def test_processors_without_a_link_cannot_exchange_directly(transport):
    with pytest.raises(UsageError, match=r"ring:8 has no link between .* the algorithm exchange"):
        ascend.run(machine_for(transport, "ring:8"), "sum", algorithm="exchange")


@pytest.mark.parametrize("network", ["ring:12", "torus:3x5"])
def test_other_numbers_of_processors_are_refused(transport, network):
    with pytest.raises(UsageError, match=f"need 2\\^q processors, and {network} has 1"):
        ascend.run(machine_for(transport, network), "sum")


@pytest.mark.parametrize(
    ("operator", "kind", "algorithm", "sentence"),
    [
        ("summ", "ascend", None, "There is no operator 'summ': did you mean sum?"),
        ("prefix", "descend", None, "The operator prefix has no descend form"),
        ("sum", "ascend", "exchanges", "There is no ASCEND algorithm 'exchanges'"),
    ],
)
def test_what_does_not_exist_gets_a_sentence(transport, operator, kind, algorithm, sentence):
    with pytest.raises(UsageError) as error:
        ascend.run(machine_for(transport, "hypercube:3"), operator, kind, algorithm=algorithm)
    assert str(error.value).startswith(sentence)


def test_more_ranks_than_processors_are_allowed(transport):
    result = ascend.run(machine_for(transport, "hypercube:1"), "fft")
    assert result.correct
