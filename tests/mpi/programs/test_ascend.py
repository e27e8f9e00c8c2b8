"""ASCEND and DESCEND on machines: results and steps on any number of ranks."""

from hashlib import sha256

import numpy as np
import pytest

from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.placement import scattered
from mpinet.machine.swap import Swap
from mpinet.machine.transport import world
from mpinet.programs import ascend
from mpinet.programs.operators import Operator, Pass, open_operator
from mpinet.programs.schedules.exchange import DimensionExchange
from mpinet.programs.schedules.line import Line
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


def test_a_pass_over_no_dimension_takes_no_step(transport):
    operator = Unlike(2, 2)
    operator.expected = lambda values: operator.by_definition(values, "ascend", 4)
    result = ascend.run(machine_for(transport, "hypercube:4"), operator)
    assert result.correct and result.steps == 4


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
    class Greedy(DimensionExchange):
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


class Cheat(Operator):
    """Comes to the sum of all elements by looking at all pairs that it is given, in one way."""

    name = "cheat"

    def __init__(self, look):
        self.look = look

    def oper(self, j, i, low, high):
        return self.look(j, i, low, high)

    def expected(self, values):
        return np.full(len(values), values.sum())


def everything(j, i, low, high):
    total = np.full_like(low, (low + high).sum())
    return total, total


def in_the_last_dimension(j, i, low, high):
    return everything(j, i, low, high) if j == 5 else (low + high, low + high)


def the_next_pair(j, i, low, high):
    return low + np.roll(high.ravel(), 1).reshape(high.shape), high


def the_next_in_the_row(j, i, low, high):
    return (low[:, ::-1] if low.ndim == 2 else low) + high, high


def how_many(j, i, low, high):
    return low + low.size, high


def in_order(j, i, low, high):
    return np.sort(low.ravel()).reshape(low.shape), high


def whose_number_is_lowest(j, i, low, high):
    return low + (i == i.min()), high


LOOKS = [
    everything,
    in_the_last_dimension,
    the_next_pair,
    the_next_in_the_row,
    how_many,
    in_order,
    whose_number_is_lowest,
]


@pytest.mark.parametrize("network", ["hypercube:6", "ring:64", "torus:8x8", "ccc:4"])
@pytest.mark.parametrize("look", LOOKS)
def test_an_operator_that_looks_beyond_its_pair_is_refused(transport, network, look):
    for kind in ("ascend", "descend"):
        with pytest.raises(UsageError, match=r"cheat looks beyond its pair: .* in dimension \d"):
            ascend.run(machine_for(transport, network), Cheat(look), kind)
    with pytest.raises(UsageError, match="beyond its pair"):
        ascend.run(machine_for(transport, "hypercube:13"), Cheat(look))


def test_an_operator_may_round_as_it_likes_and_meet_numbers_that_are_none(transport):
    class Rounding(Operator):
        name = "rounding"
        dtype = np.dtype(np.float64)

        def oper(self, j, i, low, high):
            with np.errstate(invalid="ignore"):
                return low + high * (1 + 1e-14 * low.size), np.sqrt(low - high)

        def expected(self, values):
            return values

    assert ascend.run(machine_for(transport, "hypercube:4"), Rounding()).steps == 4


def nobody_exchanges(received, upper, own):
    received[:] = own


def uppers_hear_nothing(received, upper, own):
    received[upper] = np.zeros((), received.dtype)


def lowers_hear_nothing(received, upper, own):
    received[~upper] = np.zeros((), received.dtype)


def one_hears_another(received, upper, own):
    received[len(received) // 2] = received[0]


SABOTAGES = [nobody_exchanges, uppers_hear_nothing, lowers_hear_nothing, one_hears_another]


@pytest.mark.costly
@pytest.mark.parametrize("operator", ["fft", "sum", "prefix", "bitonic-sort"])
@pytest.mark.parametrize("sabotage", SABOTAGES)
@pytest.mark.parametrize(
    ("network", "schedule"),
    [("hypercube:6", DimensionExchange), ("ring:64", Line), ("torus:8x8", Routed)],
)
def test_a_result_is_not_correct_where_messages_do_not_come(
    transport, network, schedule, sabotage, operator, monkeypatch
):
    partners = schedule.partners

    def sabotaged(self, j, state):
        received = np.array(partners(self, j, state)).reshape(-1)
        if len(received):
            sabotage(received, (self.index >> j) & 1 == 1, state)
        return received

    kind = "descend" if operator == "bitonic-sort" else "ascend"
    assert ascend.run(machine_for(transport, network), operator, kind, 0, schedule).correct
    monkeypatch.setattr(schedule, "partners", sabotaged)
    assert not ascend.run(machine_for(transport, network), operator, kind, 0, schedule).correct


@pytest.mark.parametrize("operator", ["fft", "sum", "prefix"])
@pytest.mark.parametrize("network", ["hypercube:6", "hypercube:13"])
@pytest.mark.parametrize("sabotage", SABOTAGES[:3])
def test_a_swap_that_carries_nothing_is_noticed_in_a_sample(
    transport, network, sabotage, operator, monkeypatch
):
    swap = Swap.__call__

    def sabotaged(self, payload):
        received = np.array(swap(self, payload)).reshape(-1)
        nodes = self._machine.nodes
        if sabotage is nobody_exchanges:
            return payload
        sabotage(received, nodes & self._bit != 0, payload)
        return received

    monkeypatch.setattr(Swap, "__call__", sabotaged)
    machine = machine_for(transport, network)
    fits = machine.swap(0, 1) is not None
    assert ascend.run(machine, operator).correct == (not fits)
