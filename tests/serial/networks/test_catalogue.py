"""Topology strings: what they name, and what a wrong one is told."""

import subprocess
import sys

import pytest

import mpinet
from mpinet.errors import NodeError, RuleError, TopologyError
from mpinet.networks.catalogue import FAMILIES, families

OWN = '''
from mpinet import Topology, rule


class Star(Topology):
    """A star: processor 0 in the middle."""

    def __init__(self, leaves, colour="red"):
        super().__init__(f"{leaves}", size=leaves + 1, ports=leaves)
        self.colour = colour

    @rule
    def neighbor(u, port, params):
        if u == 0:
            return port + 1
        return 0 if port == 0 else -1


class Refusing(Star):
    def __init__(self, leaves):
        raise ValueError("no such star")


class Plain:
    pass
'''


@pytest.fixture(scope="module")
def own_directory(tmp_path_factory):
    """A directory with modules of the user's own."""
    place = tmp_path_factory.mktemp("own")
    (place / "starry.py").write_text(OWN)
    (place / "broken.py").write_text("1 / 0")
    (place / "needy.py").write_text("import nowhere_to_be_found")
    return place


@pytest.fixture
def own(own_directory, monkeypatch):
    """That directory as the current one."""
    monkeypatch.chdir(own_directory)


@pytest.mark.parametrize(
    ("loose", "canonical"),
    [
        ("ring:N=5", "ring:5"),
        (" ring: 5 ", "ring:5"),
        ("circulant:16,1-4", "circulant:16,jumps=1-4"),
        ("circulant:jumps=1-4,N=16", "circulant:16,jumps=1-4"),
        ("circulant:jumps=1-4,16", "circulant:16,jumps=1-4"),
        ("fattree:h=3,m=4", "fattree:4,3"),
        ("ring:5 * ring:N=7", "ring:5*ring:7"),
        ("mesh:SIDES=3x4", "mesh:3x4"),
    ],
)
def test_arguments_go_by_order_or_by_key(loose, canonical):
    assert mpinet.open(loose).name == canonical


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("rign:5", "no topology 'rign': did you mean ring"),
        ("hypercub", "did you mean hypercube"),
        ("Torus:3x3", "did you mean torus"),
        ("qqq:1", "'mpinet topologies' lists them all"),
        ("ring", "N is missing; its parameters are N \\(>= 3\\)"),
        ("fattree:8", "fattree: h is missing; .* as in fattree:4,3 or karytree:4,3"),
        ("karytree:8", "karytree: n is missing; .* as in karytree:4,2 or fattree:4,2"),
        ("ring:5,6", "'6' is too much; its parameters are N"),
        ("ring:M=5", "unknown parameter 'M'; its parameters are N"),
        ("ring:N=5,N=6", "N is given twice"),
        ("ring:5,N=6", "N is given twice"),
        ("ring:five", "N: 'five' is not a whole number; N is >= 3"),
        ("ring:5.0", "not a whole number"),
        ("ring:", "N is missing"),
        ("ring:2", "N must be >= 3, not 2"),
        ("ring:-4", "N must be >= 3, not -4"),
        ("ring:9223372036854775808", "at most 2\\^63 - 1"),
        ("complete:4000000000", "at most 2\\^63 - 1 ports"),
        ("complete:0", "complete: N must be >= 1"),
        ("hypercube:0", "n must be 1..57, not 0"),
        ("hypercube:58", "n must be 1..57, not 58"),
        ("mesh:1x3", "mesh: a side must be >= 2, not 1"),
        ("mesh:3x", "SIDES: '' is not a whole number"),
        ("torus:0", "torus: a side must be >= 2, not 0"),
        ("torus:99999999999x99999999999", "at most 2\\^63 - 1"),
        ("ccc:2", "ccc: n must be 3..55"),
        ("debruijn:1", "debruijn: n must be 2"),
        ("shuffleexchange:1", "shuffleexchange: n must be 2"),
        ("moebius:2", "moebius: n must be 3"),
        ("circulant:10", "jumps is missing"),
        ("circulant:10,jumps=", "not a whole number"),
        ("circulant:10,jumps=1-1", "jumps must be distinct"),
        ("circulant:10,jumps=0-1", "a jump must be 1..5, not 0"),
        ("circulant:10,jumps=1-6", "a jump must be 1..5, not 6"),
        ("circulant:10,jumps=2-4", "common divisor 2"),
        ("rcirculant:2,2", "rcirculant: N must be >= 3"),
        ("rcirculant:8,1", "rcirculant: d must be >= 2"),
        ("chordalring:4,3", "N must be >= 6"),
        ("chordalring:9,3", "N must be even, not 9"),
        ("chordalring:12,4", "w must be odd, not 4"),
        ("chordalring:12,1", "w must be 3..6, not 1"),
        ("chordalring:12,7", "w must be 3..6, not 7"),
        ("doubleloop:4,2", "N must be >= 5"),
        ("doubleloop:8,4", "s must be 2..3, not 4"),
        ("fattree:1,3", "m must be >= 2"),
        ("fattree:2,0", "h must be 1"),
        ("fattree:2,999999999", "h must be 1"),
        ("roadrunner:1,2,2", "c must be >= 2"),
        ("ring:5*", "lacks a factor"),
        ("*ring:5", "lacks a factor"),
        ("ring:5**ring:5", "lacks a factor"),
        ("ring:5*foo:3", "no topology 'foo'"),
        ("ring:5*ring:2", "N must be >= 3, not 2"),
        ("fattree:2,2*ring:5", "put it last"),
        ("graph:nowhere.edges", "no file nowhere.edges"),
        ("graph:wiring.pdf", "there is no file wiring.pdf"),
        ("nowhere.edges", "'mpinet topologies' lists"),
        ("no_such_module:Thing:3", "no module 'no_such_module'"),
        ("no.such:Thing:3", "no module 'no.such'"),
        ("missing.py:Thing", "no file missing.py"),
        ("json:JSONDecoder", "must be a subclass of mpinet.Topology"),
        ("json:Nothing:1", "json has no class 'Nothing'"),
    ],
)
def test_wrong_strings_get_a_sentence(wrong, sentence):
    with pytest.raises(TopologyError, match=sentence) as caught:
        mpinet.open(wrong)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "name", ["starry:Star:5", "starry.py:Star:5", "starry:Star:5,blue", "starry:Star:leaves=5"]
)
def test_own_classes_open_by_module_or_file(own, name):
    topology = mpinet.open(name)
    assert topology.name == name == mpinet.open(topology.name).name
    assert topology.size == 6
    assert topology.colour == ("blue" if "blue" in name else "red")
    assert mpinet.check(topology).ports == 10
    assert topology.neighbor(0, 4) == 5


@pytest.mark.parametrize("name", ["starry:Star:20", "starry.py:Star:20"])
def test_own_rules_are_compiled(own, name):
    report = mpinet.check(mpinet.open(name))
    assert (report.nodes, report.ports) == (21, 40)


def test_own_classes_are_factors_of_products(own):
    topology = mpinet.open("starry:Star:3*ring:4")
    assert topology.name == "starry:Star:3*ring:4"
    assert mpinet.check(topology).nodes == 16


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("starry:Star", "wrong arguments '': missing a required argument: 'leaves'"),
        ("starry:Star:1,2,3", "too many positional arguments"),
        ("starry:Star:rays=3", "missing a required argument|unexpected keyword"),
        ("starry:Star:leaves=3,leaves=4", "leaves is given twice"),
        ("starry:Plain", "must be a subclass"),
        ("starry:Moon:3", "has no class 'Moon'"),
        ("broken:Star:3", "broken cannot be imported: broken.py:1: ZeroDivisionError"),
        ("broken.py:Star:3", "broken.py cannot be imported: broken.py:1: ZeroDivisionError"),
        ("needy:Star:3", "needy cannot be imported: No module named 'nowhere_to_be_found'"),
    ],
)
def test_wrong_own_classes_get_a_sentence(own, wrong, sentence):
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(wrong)


@pytest.mark.parametrize(
    ("failing", "sentence"),
    [
        ("starry:Star:many", "could not be made"),
        ("starry:Refusing:3", "could not be made: starry.py:21: ValueError: no such star"),
    ],
)
def test_an_own_class_that_fails_is_a_rule_error(own, failing, sentence):
    """What is no class, or takes no such arguments, is the user's word; this is the class's."""
    with pytest.raises(RuleError, match=sentence):
        mpinet.open(failing)


def test_a_class_without_family_goes_by_module_and_name(own):
    cls = type(mpinet.open("starry:Star:4"))
    assert cls(4).name == "starry:Star:4"


def test_the_catalogue_lists_every_family_with_an_example_that_opens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wiring.edges").write_text("0 1\n1 2\n")
    listed = families()
    assert [family.name for family in listed] == list(FAMILIES)
    for family in listed:
        assert mpinet.open(family.example).name == family.example
        assert family.example.startswith(family.name)
        assert all((family.paper, family.specification))
        assert bool(family.parameters) == bool(family.range), "petersen has neither"


def test_opening_a_network_imports_neither_numba_nor_networkx():
    program = (
        "import sys, mpinet; t = mpinet.open('ring:5*torus:4x4*fattree:2,2'); t.neighbor(0, 0); "
        "from mpinet.networks.catalogue import families; families(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not {"numba", "networkx"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("name", "node", "address"),
    [
        ("ring:7", 5, "5"),
        ("hypercube:4", 5, "0101"),
        ("torus:2x3x5", 19, "1,0,4"),
        ("ccc:3", 10, "3,1"),
        ("debruijn:4", 3, "0011"),
        ("fattree:2,3", 7, "7"),
        ("fattree:2,3", 13, "1,1"),
        ("roadrunner:2,2,2", 9, "1:1"),
        ("roadrunner:2,2,2", 15, "1:1,1"),
        ("torus:2x3*hypercube:2*ring:3", 45, "(1,0|11|1)"),
    ],
)
def test_addresses_are_the_papers(name, node, address):
    assert mpinet.open(name).address(node) == address


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("ring:7", "7"),
        ("ring:7", "-1"),
        ("ring:7", "05"),
        ("ring:7", " 5"),
        ("ring:7", "x"),
        ("ring:7", ""),
        ("hypercube:4", "5"),
        ("hypercube:4", "00101"),
        ("torus:2x3", "1"),
        ("torus:2x3", "1,3"),
        ("torus:2x3", "1,0,0"),
        ("ccc:3", "8,0"),
        ("ccc:3", "0,3"),
        ("fattree:2,2", "2,0"),
        ("fattree:2,2", "0,2"),
        ("fattree:2,2", "4"),
        ("roadrunner:2,2,2", "2:0"),
        ("roadrunner:2,2,2", "0"),
        ("ring:5*ring:7", "(4|7)"),
        ("ring:5*ring:7", "4|6"),
        ("ring:5*ring:7", "(4|6|0)"),
        ("ring:5*ring:7", "(4)"),
    ],
)
def test_wrong_addresses_are_refused_with_an_example(name, wrong):
    topology = mpinet.open(name)
    with pytest.raises(NodeError, match="addresses are"):
        topology.node(wrong)
