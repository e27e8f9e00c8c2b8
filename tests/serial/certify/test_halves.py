"""Bisection widths: certificates agree with brute force and closed forms; changed ones fail."""

import lzma
from hashlib import sha256
from itertools import combinations

import networkx as nx
import pytest
from networkx.generators.atlas import graph_atlas_g
from pysat.solvers import Solver
from serial.certify.changes import changed

import mpinet
from mpinet.certify.certificate import certify, check
from mpinet.certify.clauses import sized
from mpinet.certify.halfclauses import half_formula
from mpinet.certify.network import Network
from mpinet.cli.session import CommandSession
from mpinet.errors import CertificateError, OutOfReach, UsageError
from mpinet.measure.bisection import cuts_of
from mpinet.measure.optimum.halfformula import HalfFormula
from mpinet.measure.optimum.halves import WidthSearch
from mpinet.networks.graph import from_networkx

WAYS = ("eigenvalue", "flow", "front", "lrat")

LONG = 900.0
"""Seconds for the solver, which needs a fraction of one."""


def narrowest(graph):
    """The width, by trying all halves."""
    half = len(graph) // 2
    return min(nx.cut_size(graph, side) for side in combinations(graph, half)) if half else 0


def of_busses(topology):
    """The width of a bus network, by trying all halves of its processors."""
    busses = Network.of(topology).busses
    halves = combinations(range(topology.hosts), topology.hosts // 2)
    return min(sum(0 < len(set(bus) & set(half)) < len(bus) for bus in busses) for half in halves)


GRAPHS = [graph for graph in graph_atlas_g() if len(graph) > 1 and nx.is_connected(graph)]
SOME = [GRAPHS[at] for at in range(0, len(GRAPHS), 16)]


def test_the_formula_has_solutions_from_the_width_on_for_all_small_graphs():
    for graph in SOME:
        width, topology = narrowest(graph), from_networkx(graph)
        for most in (width - 1, width):
            asked = HalfFormula(cuts_of(topology), [*range(len(graph))][::-1], most)
            with Solver("cadical195", bootstrap_with=asked.clauses) as solver:
                assert solver.solve() == (most >= width)
                if most >= width:
                    true = {literal for literal in solver.get_model() if literal > 0}
                    side = asked.side(true)
                    assert len(side) in (len(graph) // 2, (len(graph) + 1) // 2)
                    assert nx.cut_size(graph, side) <= most


def test_every_bound_is_at_most_the_width_of_all_small_graphs_and_is_accepted():
    met = dict.fromkeys(WAYS, 0)
    for graph in SOME:
        width, topology = narrowest(graph), from_networkx(graph)
        for way in ("eigenvalue", "flow", "front"):
            search = WidthSearch(topology, 10, way)
            search.run()
            assert search.lower <= width == search.upper == nx.cut_size(graph, search.side)
            met[way] += search.lower == width
            if search.lower:
                seen = Network.of(topology)
                claim = check(search.certificate, seen, None, "graph")
                assert (claim.more_than, claim.parted) == (search.lower - 1, width)
                more = {"measure": "bisection", "more_than": width}
                with pytest.raises(CertificateError):
                    check(search.certificate | {"claim": more}, seen, None, "graph")
    assert met["front"] == len(SOME) and met["flow"] and met["eigenvalue"]


@pytest.mark.parametrize("name", ["fattree:2,2", "multistage:omega,2", "lens:3,3,2", "petersen"])
def test_the_checker_writes_the_same_formula(name):
    topology = mpinet.open(name)
    order = [*range(1, topology.size, 2), *range(0, topology.size, 2)]
    for most in (0, 1, 4):
        asked = HalfFormula(cuts_of(topology), order, most)
        network = Network.of(topology)
        assert list(half_formula(network, most, order)) == asked.clauses
        assert sized(half_formula(network, most, order)) == (asked.variables, len(asked.clauses))


CLOSED_FORMS = {
    "hypercube:4": 8,
    "hypercube:7": 64,
    "complete:9": 20,
    "torus:4x4": 8,
    "torus:6x4": 8,
    "ring:31": 2,
    "mesh:6x6": 6,
    "lst:2": 8,
    "lst:3": 10,
    "lst:4": 10,
    "hexcell:3": 6,
    "hexcell:6": 12,
    "hdn:2,super=-/0": 8,
}


@pytest.mark.costly
@pytest.mark.parametrize(("name", "width"), CLOSED_FORMS.items())
def test_known_widths_are_proved_and_certified(name, width, tmp_path):
    file = tmp_path / "width.cert"
    found = mpinet.optimum(name, collective="bisection", save=file).value
    assert (found["lower"], found["upper"], found["exact"]) == (width, width, True)
    assert mpinet.measure.cut_width(name, found["side"]) == width
    claim = certify(file).claim
    assert (claim.more_than, claim.parted, claim.medium) == (width - 1, width, "links")


@pytest.mark.parametrize("name", ["lens:3,3,2", "clens:3,2", "clens:2,3"])
def test_a_width_in_busses_is_proved_by_the_solver(name, tmp_path):
    file = tmp_path / "width.cert"
    found = mpinet.optimum(name, collective="bisection", limit=LONG, save=file).value
    assert found["exact"] and found["lower_by"] == "lrat" and "refused" not in found
    assert found["upper"] == of_busses(mpinet.open(name))
    claim = certify(file).claim
    assert (claim.parted, claim.medium) == (found["upper"], "busses")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A certificate of each kind."""
    found = tmp_path_factory.mktemp("widths")
    for way, name in zip(WAYS, ("hypercube:3", "ring:7", "lst:2", "hexcell:2"), strict=True):
        file = found / f"{way}.cert"
        mpinet.optimum(name, collective="bisection", by=way, limit=LONG, save=file)
    return found


@pytest.mark.parametrize("kind", WAYS)
def test_what_was_found_is_accepted(folder, kind):
    found = certify(folder / f"{kind}.cert")
    assert found.kind == kind and found.claim.parted == found.claim.more_than + 1


@pytest.mark.parametrize(
    ("kind", "changes", "sentence"),
    [
        ("eigenvalue", {"claim__more_than": 4}, "does not prove more than 4 cut links"),
        ("eigenvalue", {"at_least": [2, 1]}, "is not proved to be 2/1 or more"),
        ("eigenvalue", {"at_least": [5, 2]}, "is not proved to be 5/2 or more"),
        ("eigenvalue", {"at_least": [2**30, 2**29]}, "is not proved to be"),
        ("eigenvalue", {"at_least": [3, 0]}, "two numbers p, q above 0"),
        ("eigenvalue", {"at_least": [3]}, "two numbers p, q above 0"),
        ("eigenvalue", {"at_least": 2.0}, "two numbers p, q above 0"),
        ("eigenvalue", {"network": "hypercube:4"}, "it is about another network: hypercube:4"),
        ("eigenvalue", {"side": [0, 1, 2]}, "does not have half of the processors"),
        ("eigenvalue", {"side": [0, 1, 2, 2]}, "not a list of different nodes"),
        ("eigenvalue", {"side": None}, "not a list of different nodes"),
        ("eigenvalue", {"claim__more_than": -1}, "more_than is not a number"),
        ("eigenvalue", {"claim__more_than": True}, "more_than is not a number"),
        ("eigenvalue", {"claim__measure": "diameter"}, 'fields measure ."bisection"'),
        ("eigenvalue", {"claim__root": 0}, 'fields measure ."bisection"'),
        (
            "eigenvalue",
            {"kind": "distance"},
            "kind of the certificate is unknown: known kinds are eigenvalue, flow",
        ),
        ("flow", {"claim__more_than": 2}, "fits through 2 links"),
        ("flow", {"lengths": []}, "has no lengths"),
        ("flow", {"lengths": [[1] * 6]}, "not have one length 1..1048576 for each link"),
        ("flow", {"lengths": [[1] * 6 + [0]]}, "not have one length 1..1048576 for each link"),
        ("flow", {"lengths": [[1] * 6 + [99]]}, "fits through 1 links"),
        ("front", {"claim__more_than": 8}, "there is a bisection of width 8"),
        ("front", {"order": [*range(15)]}, "order does not contain every node"),
        ("front", {"order": [0] * 16}, "order does not contain every node"),
        ("front", {"order": "nodes"}, "order does not contain every node"),
        (
            "lrat",
            {"claim__more_than": 4},
            "another formula, not for a bisection of width 4 or less",
        ),
        ("lrat", {"claim__more_than": 2}, "another formula"),
        ("lrat", {"order": [*range(24)]}, "another formula"),
        ("lrat", {"proof_sha256": "0"}, "not the proof of this certificate"),
        ("lrat", {"proof": "../lrat.lrat.xz"}, "not a file next to the certificate"),
        ("lrat", {"kind": "flow"}, "has no lengths"),
    ],
)
def test_every_change_is_refused_by_its_sentence(folder, kind, changes, sentence):
    with pytest.raises(CertificateError, match=sentence):
        certify(changed(folder, kind, **changes))


def test_a_proof_with_one_hint_less_is_refused(folder):
    packed = (folder / "lrat.lrat.xz").read_bytes()
    lines = lzma.decompress(packed).splitlines(keepends=True)
    assert len(lines) > 10
    for place in (0, len(lines) // 2, len(lines) - 1):
        words = lines[place].split()
        end = words.index(b"0", 1)
        shorter = b" ".join([*words[: end + 1], *words[end + 2 :]]) + b"\n"
        packed = lzma.compress(b"".join([*lines[:place], shorter, *lines[place + 1 :]]))
        (folder / "other.xz").write_bytes(packed)
        file = changed(folder, "lrat", proof="other.xz", proof_sha256=sha256(packed).hexdigest())
        with pytest.raises(CertificateError, match=f"line {place + 1} of the proof"):
            certify(file)


def test_eigenvalues_and_flows_are_not_for_busses_and_switches(tmp_path):
    for way in ("eigenvalue", "flow"):
        with pytest.raises(OutOfReach, match=f"no certificate by {way}"):
            mpinet.optimum("fattree:2,2", collective="bisection", by=way)
    with pytest.raises(OutOfReach, match="no certificate by front"):
        mpinet.optimum("clens:2,3", collective="bisection", by="front")
    file = tmp_path / "lrat.cert"
    mpinet.optimum("lens:3,3,2", collective="bisection", limit=LONG, save=file)
    for kind, more in (
        ("eigenvalue", {"at_least": [1, 1]}),
        ("flow", {"lengths": [[1]]}),
        ("front", {}),
    ):
        with pytest.raises(CertificateError, match="gives no bound with busses"):
            certify(changed(tmp_path, "lrat", kind=kind, **more))


def test_what_is_about_steps_is_refused(capsys):
    for words in ("--ports all", "--root 1", "--schedule s.csv"):
        assert CommandSession(["optimum", "bisection", "ring:6", *words.split()]).run() == 2
        assert "do not apply" in capsys.readouterr().err
    with pytest.raises(UsageError, match="--by applies only to bisection"):
        mpinet.optimum("ring:6", by="flow")
    with pytest.raises(UsageError, match="there are no halves"):
        mpinet.optimum("complete:1", collective="bisection")
    pieces = mpinet.measure.without("ring:8", nodes=[0, 4])
    assert mpinet.optimum(pieces, collective="bisection").value["upper"] == 0
    with pytest.raises(UsageError, match="there is nothing to certify"):
        mpinet.optimum(pieces, collective="bisection", save="none.cert")
