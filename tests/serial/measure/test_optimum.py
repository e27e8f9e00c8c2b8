"""Optima: both sides meet at known values, by formula and counting; certificates are checked."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import networkx
import numpy as np
import pytest
from serial.programs.smallgraphs import ROOTED, fewest_steps
from shares import some

import mpinet
from mpinet.certify.certificate import certify
from mpinet.certify.clauses import formula as checkers_formula
from mpinet.certify.clauses import sized
from mpinet.certify.counting import CountedClasses
from mpinet.certify.network import Network
from mpinet.errors import CertificateError
from mpinet.machine import PortModel
from mpinet.measure.optimum.arcs import BroadcastArcs
from mpinet.measure.optimum.classlp import Quotient, classes_of, refutation, rows_of
from mpinet.measure.optimum.formula import Formula
from mpinet.measure.optimum.rup import lrat_of
from mpinet.measure.optimum.sat import solved
from mpinet.networks.graph import Graph
from mpinet.programs.passes import broadcast_timetable

GOLDEN = json.loads(Path(__file__).with_name("optima.json").read_text())
BROADCASTS = [case for case in GOLDEN if case["collective"] == "broadcast"]

SLOW = ["torus:7x7x7", "sth:3,2", "hdn:2x3,super=0", "moebius:5", "cubic50", "lst:4"]


def topology_of(case, folder):
    if "edges" not in case:
        return case["network"]
    file = folder / f"{case['network']}.edges"
    file.write_text("".join(f"{u} {v}\n" for u, v in case["edges"]))
    return f"graph:{file}"


@pytest.mark.costly
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, marks=[pytest.mark.long] if case["network"] in SLOW else [], id=case["network"]
        )
        for case in BROADCASTS
    ],
)
def test_both_sides_meet_at_the_known_optimum_and_the_certificate_is_accepted(case, tmp_path):
    certificate = tmp_path / "found.cert"
    name = topology_of(case, tmp_path)
    found = mpinet.optimum(name, root=case["root"], limit=250, save=certificate).value
    optimum = case["optimum"]
    assert (found["lower"], found["upper"], found["correct"]) == (optimum, optimum, True)
    checked = certify(certificate, mpinet.open(name))
    assert checked.claim.more_than == optimum - 1


ITEMS = [case for case in GOLDEN if case["collective"] in ("scatter", "gossip")]


@pytest.mark.parametrize(
    "case", ITEMS, ids=[f"{case['collective']} {case['network']}" for case in ITEMS]
)
def test_cuts_and_schedules_of_scatter_and_gossip_meet_at_the_known_optimum(case, tmp_path):
    certificate, optimum = tmp_path / "found.cert", case["optimum"]
    found = mpinet.optimum(
        case["network"], collective=case["collective"], ports=case["ports"], save=certificate
    ).value
    assert (found["lower"], found["upper"], found["correct"]) == (optimum, optimum, True)
    assert certify(certificate).claim.more_than == optimum - 1


def shortest_by_formula(arcs, at_least):
    """The least number of steps whose formula the solver satisfies."""
    from pysat.solvers import Solver

    steps = at_least
    while True:
        with Solver("cadical195", bootstrap_with=Formula(arcs, steps).clauses) as solver:
            if solver.solve():
                return steps
        steps += 1


def test_formula_and_counting_agree_with_brute_force_on_all_small_graphs_and_roots():
    for number, (graph, root) in enumerate(some(ROOTED, 4)):
        network = Graph(graph)
        arcs, fewest = BroadcastArcs.of(network, root), fewest_steps(graph, root)
        assert shortest_by_formula(arcs, max(arcs.distance)) == fewest
        if number % 20 == 0 and fewest > max(arcs.distance):  # each one starts the solver
            assert refutation(arcs, fewest, 0, 60) is None
    assert len(ROOTED) == 807


def test_the_formula_of_torus_7x7x7_in_10_steps_has_the_size_that_it_must_have():
    found = Formula(BroadcastArcs.of(mpinet.open("torus:7x7x7"), 0), 10)
    assert (found.variables, len(found.clauses)) == (11_598, 46_974)


@pytest.mark.parametrize("name", ["debruijn:4", "lens:2,3,3", "fattree:2,3", "plens:3,20"])
def test_the_checker_writes_the_same_formula(name):
    topology = mpinet.open(name)
    for root, steps in ((0, 4), (1, 6)):
        found = Formula(BroadcastArcs.of(topology, root), steps)
        network = Network.of(topology)
        assert list(checkers_formula(network, root, steps)) == found.clauses
        size = found.variables, len(found.clauses)
        assert sized(checkers_formula(network, root, steps)) == size


def test_a_class_certificate_of_debruijn_7_has_27_integers_of_11_classes():
    arcs = BroadcastArcs.of(mpinet.open("debruijn:7"), 0)
    found = refutation(arcs, 8, 0, 60)
    assert found is not None
    assert (len(found.of), len(set(classes_of(arcs, 0)))) == (27, 11)


LAZY = ["debruijn:5", "torus:4x5", "ccc:3", "fattree:2,3", "gmnany:30"]


@pytest.mark.parametrize("name", LAZY)
def test_real_schedules_satisfy_all_rows(name):
    topology, random = mpinet.open(name), np.random.default_rng(3)
    table = broadcast_timetable(topology, 0, PortModel.named("one"))
    parents = dict(zip(table.receiver.tolist(), table.sender.tolist(), strict=True))
    for turn in range(8):
        since, wait = {0: 0}, turn % 3
        rows = []
        for step in range(1, 500):
            ready = [v for v, u in parents.items() if v not in since and u in since]
            busy = set()
            for node in random.permutation(np.array(ready, np.int64)).tolist():
                if parents[node] not in busy and random.integers(wait + 1) == 0:
                    busy.add(parents[node])
                    rows.append((step, parents[node], node))
            since |= {node: at for at, _, node in rows}
            if len(since) == len(parents) + 1:
                break
        require_rows(topology, rows)


def require_rows(topology, rows):
    """Every row of the class LP holds for who told whom in which step."""
    steps = max(step for step, _, _ in rows)
    for rounds in (0, 1):
        classes = classes_of(BroadcastArcs.of(topology, 0), rounds)
        counted = CountedClasses(Network.of(topology), 0, steps, classes)
        point = {}
        for step, sender, receiver in rows:
            key = (classes[sender], classes[receiver], step)
            point[key] = point.get(key, 0) + 1
        for equation, right, coefficients in counted.rows():
            left = sum(value * point.get(variable, 0) for variable, value in coefficients)
            assert left == right if equation else left <= right


@pytest.mark.parametrize("name", [*LAZY, "wheel", "kautz:2,3", "circulant:30,jumps=1-4"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_the_rows_of_sums_are_those_that_the_checker_writes_in_full(name, rounds):
    topology = Graph(networkx.wheel_graph(9)) if name == "wheel" else mpinet.open(name)
    arcs = BroadcastArcs.of(topology, 1)
    classes = classes_of(arcs, rounds)
    for steps in range(max(arcs.distance), max(arcs.distance) + 4):
        rows = rows_of(Quotient.of(arcs, classes), steps)
        meaning = [Counter({variable: 1}) for variable in rows.columns]
        for columns in rows.sums:
            meaning.append(sum((meaning[column] for column in columns), Counter()))
        found = []
        for coefficients, right in zip(rows.rows, rows.right, strict=True):
            total = Counter[tuple[int, int, int]]()
            for column, value in coefficients.items():
                for variable, many in meaning[column].items():
                    total[variable] += value * many
            found.append((right, {variable: many for variable, many in total.items() if many}))
        written = []
        for _, right, coefficients in CountedClasses(
            Network.of(topology), 1, steps, classes
        ).rows():
            total = Counter[tuple[int, int, int]]()
            for variable, many in coefficients:
                total[variable] += many
            written.append((right, {variable: many for variable, many in total.items() if many}))
        assert found == written


@pytest.fixture(scope="module")
def proof():
    """A solver's proof that debruijn:6 takes more than 7 steps, as LRAT."""
    found = Formula(BroadcastArcs.of(mpinet.open("debruijn:6"), 0), 7)
    answer = solved(found, 60)
    assert answer.proof is not None
    return found.clauses, lrat_of(found.clauses, answer.proof)


def test_30_proofs_with_a_hint_less_are_all_refused(proof):
    from mpinet.certify.lrat import refuted

    clauses, lines = proof
    assert refuted(clauses, lines) == len(lines)
    places = np.linspace(0, len(lines) - 1, 30).astype(int)
    for turn, place in enumerate(places.tolist()):
        words = lines[place].split()
        hints = range(words.index("0") + 1, len(words) - 1)
        del words[hints[turn % len(hints)]]
        with pytest.raises(CertificateError, match=f"line {place + 1} of the proof"):
            refuted(clauses, [*lines[:place], " ".join(words), *lines[place + 1 :]])


def test_the_lines_of_a_trimmed_proof_ascend(proof):
    _, lines = proof
    numbers = [int(line.split()[0]) for line in lines]
    assert all(a < b for a, b in pairwise(numbers))
    assert lines[-1].split()[1] == "0"
