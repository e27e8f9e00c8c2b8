"""The backend of networkx: its functions give what networkx gives, and networkx's tests pass."""

import os
import re
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

from mpinet.experiments.plan import read_plan
from mpinet.measure import networkxbackend as backend
from mpinet.measure.networkxinfo import FUNCTIONS, get_info

ROOT = Path(__file__).parents[3]

GRAPHS = {
    "one edge": networkx.path_graph(2),
    "path": networkx.path_graph(9),
    "named": networkx.relabel_nodes(networkx.petersen_graph(), lambda node: f"n{node}"),
    "grid": networkx.grid_2d_graph(4, 5),
    "mixed names": networkx.Graph([(1, "a"), ("a", (2, 3)), ((2, 3), 1), (1, None.__class__)]),
    "loops": networkx.Graph([(0, 0), (0, 1), (1, 2)]),
    "parallel": networkx.MultiGraph([(0, 1), (0, 1), (1, 2)]),
    "random": networkx.connected_watts_strogatz_graph(700, 4, 0.3, seed=2),
}
"""Connected graphs, one of them with more nodes than flood together."""

APART = networkx.Graph([(0, 1), (2, 3), (3, 4)])


@pytest.fixture(autouse=True, scope="module")
def backed(tmp_path_factory):
    """The package's entry points as pyproject.toml has them, whenever it was installed."""
    return entry_points(tmp_path_factory.mktemp("entry"))


def entry_points(folder: Path) -> Path:
    project = read_plan(ROOT / "pyproject.toml")["project"]
    about = folder / "mpinet_backend-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mpinet-backend\nVersion: 1\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {where}" for name, where in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def run(folder: Path, *words: str, **variables: str) -> str:
    path = os.pathsep.join([str(folder), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore", **variables}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def converted(graph):
    return backend.convert_from_nx(graph)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_function_gives_what_networkx_gives(name):
    graph = GRAPHS[name]
    for function in ("diameter", "average_shortest_path_length", "eccentricity"):
        assert backend.can_run(function, (graph,), {})
        assert getattr(backend, function)(converted(graph)) == getattr(networkx, function)(graph)
    for cutoff in (None, 0, 1, 3):
        expected = dict(networkx.all_pairs_shortest_path_length(graph, cutoff))
        found = dict(backend.all_pairs_shortest_path_length(converted(graph), cutoff))
        assert found == expected and [*found] == [*expected]


def test_eccentricities_of_one_node_and_of_several_are_networkxs():
    graph = GRAPHS["grid"]
    for asked in ((1, 1), [(1, 1), (3, 4)], []):
        expected = networkx.eccentricity(graph, asked)
        assert backend.eccentricity(converted(graph), asked) == expected


def test_a_graph_that_is_not_connected_gets_the_distances_there_are_and_networkxs_errors():
    expected = dict(networkx.all_pairs_shortest_path_length(APART))
    assert dict(backend.all_pairs_shortest_path_length(converted(APART))) == expected
    for function in ("diameter", "average_shortest_path_length", "eccentricity"):
        with pytest.raises(networkx.NetworkXError) as error:
            getattr(networkx, function)(APART)
        with pytest.raises(networkx.NetworkXError, match=f"^{re.escape(str(error.value))}$"):
            getattr(backend, function)(converted(APART))


@pytest.mark.parametrize(
    ("function", "graph", "options"),
    [
        ("diameter", networkx.DiGraph([(0, 1), (1, 0)]), {}),
        ("diameter", networkx.path_graph(3), {"weight": "weight"}),
        ("diameter", networkx.path_graph(3), {"e": {0: 2, 1: 1, 2: 2}}),
        ("diameter", networkx.empty_graph(1), {}),
        ("diameter", networkx.empty_graph(3), {}),
        ("diameter", networkx.Graph([(0, 0), (1, 1)]), {}),
        ("average_shortest_path_length", networkx.path_graph(3), {"method": "dijkstra"}),
        ("eccentricity", networkx.path_graph(3), {"sp": {}}),
        ("all_pairs_shortest_path_length", networkx.path_graph(3), {"cutoff": 1.5}),
    ],
)
def test_what_floods_cannot_do_is_left_to_networkx(function, graph, options):
    assert not backend.can_run(function, (graph,), options)
    assert not backend.can_run(function, (), {"G": graph, **options})
    places = backend.POSITIONAL[function]
    by_place = [options.get(name) for name in places]
    assert not backend.can_run(function, (graph, *by_place), {})


def test_networkx_is_told_of_every_function_that_there_is():
    assert set(get_info()["functions"]) == set(FUNCTIONS) == set(backend.POSITIONAL)
    for name in FUNCTIONS:
        assert callable(getattr(backend, name)) and hasattr(networkx, name)


FIVE_LINES = """
import networkx
graph = networkx.random_regular_graph(4, 300, seed=1)
plain = networkx.diameter(graph), networkx.average_shortest_path_length(graph)
backed = (networkx.diameter(graph, backend="mpinet"),
          networkx.average_shortest_path_length(graph, backend="mpinet"))
print(plain == backed)
"""


def test_a_networkx_users_lines_work_with_the_backend_named(backed):
    assert run(backed, "-c", FIVE_LINES).split() == ["True"]


def test_networkx_is_imported_without_the_machine(backed):
    script = "import networkx, sys; networkx.utils.backends.backend_info['mpinet']; "
    script += "print([name for name in ('numba', 'mpi4py', 'numpy') if name in sys.modules])"
    assert run(backed, "-c", script).strip() == "[]"


COUNT = """
import collections
from mpinet.experiments.plan import read_plan
from mpinet.measure import networkxbackend as backend
from mpinet.measure.networkxinfo import FUNCTIONS
calls = collections.Counter()
def counted(name, function):
    def call(*args, **kwargs):
        calls[name] += 1
        return function(*args, **kwargs)
    return call
for name in FUNCTIONS:
    setattr(backend, name, counted(name, getattr(backend, name)))
def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("\\n".join(f"ran {name} {calls[name]}" for name in FUNCTIONS))
"""

MODULES = ("shortest_paths.tests.test_unweighted", "shortest_paths.tests.test_generic",
           "tests.test_distance_measures")  # fmt: skip


def networkxs_tests(folder: Path, *chosen: str) -> tuple[int, dict[str, int]]:
    """How many of networkx's own tests pass, and how often the backend's functions ran."""
    (folder / "counting.py").write_text(COUNT)
    modules = [f"networkx.algorithms.{name}" for name in MODULES]
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "counting", "--pyargs"]
    variables = {"NETWORKX_TEST_BACKEND": "mpinet", "NETWORKX_FALLBACK_TO_NX": "1"}
    said = run(folder, *words, *modules, *chosen, **variables)
    assert "failed" not in said and "error" not in said
    ran = {name: int(times) for name, times in re.findall(r"^ran (\w+) (\d+)$", said, re.M)}
    return int(re.search(r"(\d+) passed", said)[1]), ran


def test_networkxs_own_tests_of_these_functions_pass_on_the_backend(backed):
    passed, ran = networkxs_tests(
        backed, "-k", "diameter or eccentricity or AverageShortestPathLength or all_pairs"
    )
    assert passed >= 20
    assert min(ran.values()) >= 1, ran


@pytest.mark.long
def test_all_of_networkxs_own_tests_beside_them_pass_too(backed):
    passed, ran = networkxs_tests(backed)
    assert passed >= 600
    assert min(ran.values()) >= 3, ran
