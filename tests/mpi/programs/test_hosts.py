"""The ASCEND/DESCEND hosts of docs/papers/gmn, 7: step counts, results, one-port legality."""

from itertools import product

import numpy as np
import pytest
from mpi.programs.passes import KINDS, PORTS, Tangle, machine_for, mixed_program

from mpinet import Topology, rule
from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine
from mpinet.machine.transport import world
from mpinet.programs import ascend
from mpinet.programs.schedules import find_schedule, line, pipeline, shifting
from mpinet.programs.schedules.moves import MoveSends, merge


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


def range_steps(name, q, low, high, ports="all"):
    """A pass over [low, high): the table in 7.3; with one port as 7.2 to 7.4 say."""
    family, _, text = name.partition(":")
    one = ports == "one"
    if family in ("hypercube", "rcirculant"):
        return high - low
    if family == "ring":
        return line_steps(low, high, one)
    if family == "shuffleexchange":
        return q + high - low
    if family == "debruijn":
        return q + high - low if one else q
    length = int(text.partition(",")[0])
    r = length.bit_length() - 1
    second = 4 * length - 1 if family == "ccc" else (6 if one else 4) * length + (4 if one else 2)
    return line_steps(min(low, r), min(high, r), one) + (second if high > r else 0)


def line_steps(low, high, one):
    """Line exchanges: 2^j steps, with one port twice as many but for j = 0."""
    return sum(2**j * (2 if one and j else 1) for j in range(low, high))


HOSTS = {
    "hypercube:3": 3, "hypercube:5": 5, "hypercube:7": 7,
    "rcirculant:8,2": 3, "rcirculant:32,2": 5, "rcirculant:64,2": 6,
    "ring:4": 2, "ring:16": 4, "ring:32": 5,
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
OTHERS = [
    ("shift:5", "ascend"), ("shift:-3", "descend"), ("shuffle", "ascend"),
    ("unshuffle", "ascend"), ("transpose", "ascend"), ("bitonic-merge", "descend"),
    ("odd-even-merge", "ascend"), ("odd-even-merge", "descend"),
]  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("name", [*HOSTS, *LARGE])
def test_a_full_pass_takes_the_steps_of_the_table_and_gives_the_serial_result(transport, name):
    q = {**HOSTS, **LARGE}[name]
    programs = {kind: Tangle((kind, 0, q)) for kind in KINDS}
    for ports, kind in product(PORTS, KINDS):
        machine = machine_for(transport, name, ports)
        result = ascend.run(machine, programs[kind], kind)
        assert result.correct
        assert result.algorithm == OWN[name.partition(":")[0]]
        assert (result.elements, result.steps) == (2**q, full_steps(name, q, ports))
        assert result.steps == machine.steps == sum(steps for _, steps in result.phases)
        assert range_steps(name, q, 0, q, ports) == result.steps


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", [name for name, q in HOSTS.items() if q <= 6 and name != "ring:32"]
)
def test_a_pass_over_a_range_takes_the_steps_of_the_table(transport, name):
    q = HOSTS[name]
    ranges = {(low, high) for low in range(q) for high in range(low + 1, q + 1)}
    for ports, tried in (("all", ranges), ("one", ranges & {(1, 2), (1, q), (q - 1, q)})):
        machine = machine_for(transport, name, ports)
        for (low, high), kind in product(sorted(tried), KINDS):
            result = ascend.run(machine, Tangle((kind, low, high)))
            assert result.correct
            assert result.steps == range_steps(name, q, low, high, ports)


@pytest.mark.parametrize(
    "name", ["ring:16", "shuffleexchange:4", "debruijn:4", "ccc:4", "gmn:4,32"]
)
def test_passes_of_a_program_follow_each_other_on_any_mapping(transport, name):
    q = {"ccc:4": 6, "gmn:4,32": 5}.get(name, 4)
    program = mixed_program(q)
    operator = Tangle(*program)
    for ports, seed in product(PORTS, (None, 3)):
        result = ascend.run(machine_for(transport, name, ports, seed), operator)
        assert result.correct
        assert [phase for phase, _ in result.phases][1] == f"descend {q - 2}..0"
        assert result.steps == sum(range_steps(name, q, *part[1:], ports) for part in program)


def test_cycles_of_two_are_a_host_too(transport):
    for ports, kind in product(PORTS, KINDS):
        machine = machine_for(transport, SmallestCycles(), ports)
        result = ascend.run(machine, Tangle((kind, 0, 3)), kind, algorithm=cycles())
        assert result.correct
        assert result.steps == {"all": 5 * 2 - 2, "one": 6 * 2 - 4}[ports]
        for low, high, steps in ((0, 1, 1), (1, 2, 7), (2, 3, 7)):
            result = ascend.run(machine, Tangle((kind, low, high)), algorithm=cycles())
            assert (result.correct, result.steps) == (True, steps)


def cycles():
    """The schedule of the cube-connected cycles."""
    return find_schedule(Machine("ccc:4").topology, "cycles")


@pytest.mark.costly
@pytest.mark.parametrize("name", ["ccc:2", *HOSTS])
def test_fft_sort_and_prefix_take_the_steps_of_their_passes_on_every_host(transport, name):
    q = {"ccc:2": 3, **HOSTS}[name]
    network, algorithm = (SmallestCycles(), cycles()) if name == "ccc:2" else (name, None)
    for ports in PORTS:
        machine = machine_for(transport, network, ports)
        full = full_steps(name, q, ports)
        for operator, kind in (("prefix", "ascend"), ("fft", "ascend"), ("fft", "descend")):
            result = ascend.run(machine, operator, kind, algorithm=algorithm)
            assert (result.correct, result.steps) == (True, full)
        sort = ascend.run(machine, "bitonic-sort", "descend", algorithm=algorithm)
        passes = [range_steps(name, q, 0, s, ports) for s in range(1, q + 1)]
        assert (sort.correct, sort.steps) == (True, sum(passes))


@pytest.mark.parametrize("name", ["ring:16", "debruijn:4", "shuffleexchange:5", "ccc:4", "gmn:16"])
def test_the_other_operators_run_on_the_hosts(transport, name):
    for operator, kind in OTHERS:
        assert ascend.run(machine_for(transport, name, "one"), operator, kind).correct


def test_the_all_port_schedule_is_refused_by_a_one_port_machine(transport, monkeypatch):
    for module in (line, shifting, pipeline):
        monkeypatch.setattr(module, "is_one_port", lambda machine: False)
    for name in ("ring:8", "debruijn:3", "ccc:4", "gmn:32"):
        with pytest.raises(ModelViolation, match="at most 1 message"):
            ascend.run(machine_for(transport, name, "one"), "prefix")


def test_a_shuffle_that_exchanges_and_rotates_at_once_is_refused(transport):
    class Hasty(shifting.ShuffleExchangeSchedule):
        def turn(self, sweep, j, registers):
            nodes = self.machine.nodes
            everyone, rotated = np.arange(len(nodes)), self.rotated(nodes, sweep.kind)
            moving = everyone[rotated != nodes]

            def sends():
                return merge(MoveSends(everyone, nodes ^ 1), MoveSends(moving, rotated[moving]))

            self._moves.move("both", registers, sends, lambda origins, receivers: 0)

    with pytest.raises(ModelViolation, match=r"Step 1: processor .* at most 1 message"):
        ascend.run(machine_for(transport, "shuffleexchange:4", "one"), "sum", algorithm=Hasty)


def test_networks_that_cannot_be_hosts_get_a_sentence(transport):
    for name, algorithm, sentence in (
        ("gmn:5,40", None, "The algorithm loops needs G(m,N) with powers of two"),
        ("ccc:3", None, "needs n 2^n processors, n a power of two"),
        ("ring:12", None, "need 2^q processors"),
        ("fattree:4,2", "line", "needs a network without switches"),
        ("mesh:4x4", "line", "has no link between 3 and 4"),
        ("hypercube:3", "loops", "give one of exchange, routed, line"),
    ):
        with pytest.raises(UsageError) as error:
            ascend.run(machine_for(transport, name), "sum", algorithm=algorithm)
        assert sentence.lower() in str(error.value).lower()


def test_a_network_of_the_users_own_may_name_its_schedule(transport):
    class Own(SmallestCycles):
        @property
        def ascend_schedules(self):
            return {"small": cycles()}

    assert ascend.run(machine_for(transport, Own()), "prefix").steps == 8


def test_the_line_serves_every_hamiltonian_numbering(transport):
    result = ascend.run(machine_for(transport, "gmn:32"), "prefix", algorithm="line")
    assert (result.algorithm, result.correct, result.steps) == ("line", True, 31)
