"""The ASCEND/DESCEND hosts of the spec of G(m,N), 7: step counts, results, one-port legality."""

import numpy as np
import pytest

from mpinet import Topology, rule
from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine
from mpinet.machine.placement import scattered
from mpinet.machine.transport import world
from mpinet.programs import ascend
from mpinet.programs.operators import Operator, Pass
from mpinet.programs.schedules import find_schedule, line, pipeline, shifting
from mpinet.programs.schedules.moves import Sends, joined

MODULUS = 65537


@pytest.fixture(scope="module")
def transport():
    return world()


@rule
def cycle_or_cube(node, port, params):
    place = node % 2
    return node - place + 1 - place if port == 0 else node ^ (2 << place)


class SmallestCycles(Topology):
    """CCC(2), which is in no catalogue: cycles of two processors, one link each."""

    neighbor = cycle_or_cube

    def __init__(self):
        super().__init__("", size=8, ports=2)


class Tangle(Operator):
    """Passes over ranges of dimensions, in which every pair, order and dimension counts."""

    name = "tangle"

    def __init__(self, q, *ranges):
        self.q, self.ranges = q, ranges

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


def full_steps(name, q, ports):
    """A full pass, as the table in 7.3 says."""
    family, _, text = name.partition(":")
    one = ports == "one"
    if family in ("hypercube", "rcirculant"):
        return q
    if family == "ring":
        return 2 ** (q + 1) - 3 if one else 2**q - 1
    if family == "shuffleexchange":
        return 2 * q
    if family == "debruijn":
        return 2 * q if one else q
    if family == "ccc":
        n = int(text)
        return 6 * n - 4 if one else 5 * n - 2
    m = int(text.partition(",")[0])
    return 8 * m + 1 if one else 5 * m + 1


def range_steps(name, q, low, high):
    """A pass over [low, high) with all ports, as the table in 7.3 says."""
    family, _, text = name.partition(":")
    if family in ("hypercube", "rcirculant"):
        return high - low
    if family == "ring":
        return 2**high - 2**low
    if family == "shuffleexchange":
        return q + high - low
    if family == "debruijn":
        return q
    length = int(text.partition(",")[0])
    r = length.bit_length() - 1
    second = {"ccc": 4 * length - 1, "gmn": 4 * length + 2}[family]
    return 2 ** min(high, r) - 2 ** min(low, r) + (second if high > r else 0)


HOSTS = {
    "hypercube:3": 3, "hypercube:5": 5, "hypercube:7": 7,
    "rcirculant:8,2": 3, "rcirculant:32,2": 5, "rcirculant:64,2": 6,
    "ring:4": 2, "ring:16": 4, "ring:64": 6,
    "shuffleexchange:2": 2, "shuffleexchange:5": 5, "shuffleexchange:6": 6,
    "debruijn:2": 2, "debruijn:3": 3, "debruijn:6": 6,
    "ccc:4": 6, "ccc:8": 11,
    "gmn:4,16": 4, "gmn:4,32": 5, "gmn:8,128": 7, "gmn:8,256": 8,
}  # fmt: skip
LARGE = {"gmn:16,4096": 12, "gmn:16,8192": 13}
OWN = {
    "hypercube": "exchange", "rcirculant": "exchange", "ring": "line",
    "shuffleexchange": "shuffle", "debruijn": "debruijn", "ccc": "cycles", "gmn": "loops",
}  # fmt: skip


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("name", [*HOSTS, *LARGE])
def test_a_full_pass_takes_the_steps_of_the_table_and_gives_the_serial_result(
    transport, name, ports
):
    q = {**HOSTS, **LARGE}[name]
    for kind in ("ascend", "descend"):
        machine = Machine(name, ports, transport)
        result = ascend.run(machine, Tangle(q, (kind, 0, q)), kind)
        assert result.correct
        assert result.algorithm == OWN[name.partition(":")[0]]
        assert (result.elements, result.steps) == (2**q, full_steps(name, q, ports))
        assert result.steps == machine.steps == sum(steps for _, steps in result.phases)


@pytest.mark.parametrize(
    "name", [name for name, q in HOSTS.items() if q <= 6 and name != "ring:64"]
)
def test_a_pass_over_a_range_takes_the_steps_of_the_table(transport, name):
    q = HOSTS[name]
    machine = Machine(name, "all", transport)
    for low in range(q):
        for high in range(low + 1, q + 1):
            for kind in ("ascend", "descend"):
                result = ascend.run(machine, Tangle(q, (kind, low, high)))
                assert result.correct
                assert result.steps == range_steps(name, q, low, high)


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("name", ["ring:16", "shuffleexchange:4", "debruijn:4", "ccc:4", "gmn:32"])
def test_passes_of_a_program_follow_each_other_on_any_mapping(transport, name, ports):
    q = {"ccc:4": 6, "gmn:32": 5}.get(name, 4)
    program = ("ascend", 1, q), ("descend", 0, q - 1), ("descend", q - 1, q), ("ascend", 0, 2)
    steps = set()
    for seed in (None, 3):
        machine = Machine(name, ports, transport)
        if seed:
            mapping = scattered(machine.topology, seed)
            machine = Machine(name, ports, transport, mapping)
        result = ascend.run(machine, Tangle(q, *program))
        assert result.correct
        assert [phase for phase, _ in result.phases][1] == f"descend {q - 2}..0"
        steps.add(result.steps)
    assert len(steps) == 1


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("kind", ["ascend", "descend"])
def test_cycles_of_two_are_a_host_too(transport, kind, ports):
    machine = Machine(SmallestCycles(), ports, transport)
    result = ascend.run(machine, Tangle(3, (kind, 0, 3)), kind, algorithm=cycles())
    assert result.correct
    assert result.steps == {"all": 5 * 2 - 2, "one": 6 * 2 - 4}[ports]
    for low, high, steps in ((0, 1, 1), (1, 2, 7), (2, 3, 7)):
        machine = Machine(SmallestCycles(), "all", transport)
        result = ascend.run(machine, Tangle(3, (kind, low, high)), algorithm=cycles())
        assert (result.correct, result.steps) == (True, steps)


def cycles():
    """The schedule of the cube-connected cycles."""
    return find_schedule(Machine("ccc:4").topology, "cycles")


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("name", [name for name, q in HOSTS.items() if q <= 8])
def test_fft_sort_and_prefix_run_on_every_host(transport, name, ports):
    q = HOSTS[name]
    full = full_steps(name, q, ports)
    for operator, kind in (("prefix", "ascend"), ("fft", "ascend"), ("fft", "descend")):
        result = ascend.run(Machine(name, ports, transport), operator, kind)
        assert (result.correct, result.steps) == (True, full)
    sort = ascend.run(Machine(name, ports, transport), "bitonic-sort", "descend")
    assert sort.correct
    if ports == "all":
        assert sort.steps == sum(range_steps(name, q, 0, s) for s in range(1, q + 1))


@pytest.mark.parametrize("name", ["ring:16", "debruijn:4", "shuffleexchange:5", "ccc:4", "gmn:16"])
@pytest.mark.parametrize(
    ("operator", "kind"),
    [
        ("shift:5", "ascend"), ("shift:-3", "descend"), ("shuffle", "ascend"),
        ("unshuffle", "ascend"), ("transpose", "ascend"), ("bitonic-merge", "descend"),
        ("odd-even-merge", "ascend"), ("odd-even-merge", "descend"),
    ],
)  # fmt: skip
def test_the_other_operators_run_on_the_hosts(transport, name, operator, kind):
    assert ascend.run(Machine(name, "one", transport), operator, kind).correct


@pytest.mark.parametrize("name", ["ring:8", "debruijn:3", "ccc:4", "gmn:32"])
def test_the_all_port_schedule_is_refused_by_a_one_port_machine(transport, name, monkeypatch):
    for module in (line, shifting, pipeline):
        monkeypatch.setattr(module, "is_one_port", lambda machine: False)
    with pytest.raises(ModelViolation, match="at most 1 message"):
        ascend.run(Machine(name, "one", transport), "prefix")


def test_a_shuffle_that_exchanges_and_rotates_at_once_is_refused(transport):
    class Hasty(shifting.Shuffle):
        def turn(self, sweep, j, registers):
            nodes = self.machine.nodes
            everyone, rotated = np.arange(len(nodes)), self.rotated(nodes, sweep.kind)
            moving = everyone[rotated != nodes]

            def sends():
                return joined(Sends(everyone, nodes ^ 1), Sends(moving, rotated[moving]))

            self._moves.move("both", registers, sends, lambda origins, receivers: 0)

    with pytest.raises(ModelViolation, match=r"Step 1: processor .* at most 1 message"):
        ascend.run(Machine("shuffleexchange:4", "one", transport), "sum", algorithm=Hasty)


@pytest.mark.parametrize(
    ("name", "algorithm", "sentence"),
    [
        ("gmn:5,40", None, "the algorithm loops needs G(m,N) with powers of two"),
        ("ccc:3", None, "needs n 2^n processors, n a power of two"),
        ("ring:12", None, "need 2^q processors"),
        ("fattree:4,2", "line", "needs a network without switches"),
        ("mesh:4x4", "line", "has no link between 3 and 4"),
        ("hypercube:3", "loops", "give one of exchange, routed, line"),
    ],
)
def test_networks_that_cannot_be_hosts_get_a_sentence(transport, name, algorithm, sentence):
    with pytest.raises(UsageError) as error:
        ascend.run(Machine(name, transport=transport), "sum", algorithm=algorithm)
    assert sentence.lower() in str(error.value).lower()


def test_a_network_of_the_users_own_may_name_its_schedule(transport):
    class Own(SmallestCycles):
        @property
        def ascend_schedules(self):
            return {"small": cycles()}

    machine = Machine(Own(), transport=transport)
    assert ascend.run(machine, "prefix").steps == 8


def test_the_line_serves_every_hamiltonian_numbering(transport):
    result = ascend.run(Machine("gmn:32", transport=transport), "prefix", algorithm="line")
    assert (result.algorithm, result.correct, result.steps) == ("line", True, 31)
