"""Values that Python gives: arrays and lists of NumPy's users, and words in the command's order."""

import subprocess
import sys

import networkx
import numpy as np
import pytest

import mpinet
from mpinet.errors import MpinetError, UsageError

SHORT = {"warmup": 10, "steps": 50}


def lines_of(pairs) -> str:
    """The lines of a file of pairs."""
    return "".join(f"{source},{target}\n" for source, target in pairs)


@pytest.mark.parametrize(
    ("command", "places", "array", "others"),
    [
        ("load", ["torus:4x4"], {"rate": np.linspace(0.1, 0.3, 3)}, SHORT),
        ("load", ["ring:4"], {"seeds": np.arange(2), "flits": np.array([1, 2])}, SHORT),
        ("load", ["ring:4"], {"buffers": np.array([2, 4]), "seed": np.int64(3)}, SHORT),
        ("find", [], {"processors": np.array([16, 16]), "degree": np.int32(4)}, {"best": 1}),
        ("embed", ["ring:4", "hypercube:2"], {"images": np.array([0, 1, 3, 2])}, {}),
        ("broadcast", ["torus:4x4"], {"root": np.array(3)}, {}),
        ("compare", ["ring:4"], {"only": np.array(["diameter", "links"])}, {}),
    ],
)
def test_an_array_is_the_list_of_its_values(command, places, array, others):
    function = getattr(mpinet, command)
    lists = {name: value.tolist() for name, value in array.items()}
    found = function(*places, **array, **others)
    assert found == function(*places, **lists, **others)
    assert all(type(word) is str for word in found.document()["command"])


def test_networks_may_be_an_array_of_names():
    rows = mpinet.compare(np.array(["ring:16", "hypercube:4"]), only="diameter")
    assert [row.diameter for row in rows] == [8, 4]


@pytest.mark.parametrize(
    "pairs",
    [[(0, 5), (3, 1)], [[0, 5], [3, 1]], ((0, 5), (3, 1)), np.array([[0, 5], [3, 1]])],
)
def test_pairs_are_listed_and_typed_as_in_a_file(pairs, tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text(lines_of(pairs))
    found = mpinet.route("torus:4x4", pairs=pairs)
    typed = found.document()["command"]
    assert typed[typed.index("--pairs") + 1] == "0-5,3-1"
    assert mpinet.route("torus:4x4", pairs="0-5,3-1") == found
    assert mpinet.route("torus:4x4", pairs=str(file)).digest == found.digest


def test_pairs_may_be_addresses_and_nodes_of_a_graph():
    by_address = mpinet.route("torus:4x4", pairs=[("1,1", "2,3")])
    assert by_address == mpinet.route("torus:4x4", pairs=[(5, 11)])
    grid = networkx.grid_2d_graph(3, 3)
    found = mpinet.route(grid, pairs=[((0, 0), (2, 2)), ((0, 1), (0, 1))])
    assert found.hops_total == networkx.shortest_path_length(grid, (0, 0), (2, 2))


def test_a_list_of_targets_is_the_pattern_of_a_file(tmp_path):
    targets = np.roll(np.arange(16), 1)
    file = tmp_path / "targets.csv"
    file.write_text(lines_of(enumerate(targets.tolist())))
    listed = mpinet.load("torus:4x4", pattern=targets, rate=0.2, **SHORT)
    read = mpinet.load("torus:4x4", pattern=str(file), rate=0.2, **SHORT)
    assert listed.curves[0].points == read.curves[0].points
    typed = listed.document()["command"]
    pattern = typed[typed.index("--pattern") + 1]
    assert mpinet.load("torus:4x4", pattern=pattern, rate=0.2, **SHORT) == listed


def test_several_patterns_may_be_a_list():
    found = mpinet.load("ring:4", pattern=["uniform", "tornado"], rate=0.1, **SHORT)
    assert found == mpinet.load("ring:4", pattern="uniform,tornado", rate=0.1, **SHORT)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mpinet.load("ring:4", rate=["a"]), "rate is .* a list .a number each., not"),
        (lambda: mpinet.load("ring:4", rate=np.zeros((2, 2))), "rate is .* not"),
        (lambda: mpinet.load("ring:4", buffers=np.array([1.5, 2])), "buffers is a whole number"),
        (lambda: mpinet.load("ring:4", pattern=np.array([0.5])), "pattern is a text"),
        (lambda: mpinet.load("ring:4", pattern=[1, 0], rate=0.1), "each of the 4 processors"),
        (lambda: mpinet.load("ring:4", pattern=[1, 0, 9, 2], rate=0.1), "Node 9 is not in"),
        (lambda: mpinet.route("ring:4", pairs=[0, 1]), "pairs is"),
        (lambda: mpinet.route("ring:4", pairs=["01"]), "is not a pair of processors"),
        (lambda: mpinet.route("ring:4", pairs=[(0, 1, 2)]), "is not a pair of processors"),
        (lambda: mpinet.route("ring:4", pairs=[]), "empty list"),
        (lambda: mpinet.route("ring:4", pairs=[(0, 4)]), "Node 4 is not in"),
        (lambda: mpinet.route("ring:4", pairs="0-1,2-99999999999999999999"), "is not in"),
        (lambda: mpinet.route("rail:2,2", pairs="0-4"), "is a switch"),
        (lambda: mpinet.optimum("ring:4", "gossip"), "collective is .* not 'ring:4'"),
        (lambda: mpinet.optimum("gossip"), "needs a network"),
    ],
)
def test_a_wrong_value_gets_a_sentence(call, said):
    with pytest.raises(MpinetError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_collective_of_an_optimum_may_come_first():
    found = mpinet.optimum("gossip", "ring:4")
    assert found.collective == "gossip" and found.upper == 3  # each gets one of three a step
    assert found == mpinet.optimum("ring:4", collective="gossip")
    assert mpinet.optimum("ring:4").collective == "broadcast"


@pytest.mark.parametrize("names", [{"collective": "gossip"}, {"topology": "ring:6"}])
def test_an_option_is_not_given_twice(names):
    with pytest.raises(TypeError, match="multiple values"):
        mpinet.optimum("gossip", "ring:4", **names)


def test_options_are_declared_without_numpy():
    code = "import sys, mpinet.commands.load, mpinet.commands.route; print('numpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"


def test_values_for_a_users_function_stay_what_they_are():
    from mpinet.commands import function_of
    from mpinet.commands.signature import given

    array = np.arange(3)
    values = {"program": "mpinet.examples.flood:flood", "on": "ring:4", "arg": [array]}
    assert given(function_of("run"), values).arg[0] is array
    with pytest.raises(UsageError):
        given(function_of("route"), {"topology": "ring:4", "pairs": 3.5})
