"""What scripts rely on: fields of the results, hashes computed a second time, errors, files."""

import csv
import io
import itertools
import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS
from mpinet.commands.docstrings import returned
from mpinet.networks.catalogue import to_networkx
from mpinet.networks.routing import path

TIME_LIMIT = 300
"""Seconds after which a command hangs."""

OWN_CLAIMS = Path(__file__).parents[1] / "claims" / "own.py"

ENVELOPE = {
    "mpinet", "command", "topology", "model", "seed", "ranks", "digest", "result", "seconds",
    "made",
}  # fmt: skip

BOUND = {"lower_bound", "lower_by"}

FIELDS = {
    "show ring:6": {"size", "ports", "links", "degree_histogram", "edges_sha256"},
    "show ring:6 --distances": {"diameter", "distance_sum", "average_distance"},
    "path ring:6 0 2": {"nodes", "ports", "addresses", "hops", "header_bits"},
    "route ring:6": {
        "messages", "delivered", "undeliverable", "steps", "hops_total", "hops_max", "latency",
        "queue_max", "link_load",
    },
    "route ring:6 --paths": {"paths_sha256"},
    "load ring:6 --steps 20 --rate 0.1,0.2": {"curves"},
    "flood ring:6": {"steps", "messages", "informed", "eccentricity"},
    "broadcast ring:6": {"steps", "messages", "informed", "phases"} | BOUND,
    "broadcast ring:6 --schedule": {"schedule_sha256"},
    "ascend ring:8 --operator sum": {"steps", "phases", "elements", "correct", "operator"},
    "embed hypercube:3 ring:8": {
        "dilation", "congestion", "expansion", "guest_steps", "host_steps", "slowdown", "correct",
        "program",
    },
    "descend ring:8 --operator sum": {"steps", "phases", "elements", "correct", "operator"},
    "gossip ring:6": {"steps", "messages", "algorithm", "phases", "correct"} | BOUND,
    "reduce ring:6": {"steps", "messages", "algorithm", "operator", "value"} | BOUND,
    "allreduce ring:6": {"items", "algorithm", "operator", "value", "correct", "bandwidth"} | BOUND,
    "broadcast ring:6 --items 2": {"items", "informed", "correct", "bandwidth", "steps"} | BOUND,
    "gossip ring:6 --items 2": {"items", "correct", "bandwidth", "steps"} | BOUND,
    "reduce ring:6 --items 2": {"items", "operator", "value", "bandwidth", "steps"} | BOUND,
    "reducescatter ring:6": {"items", "operator", "value", "correct", "bandwidth"} | BOUND,
    "circulate ring:8": {"steps", "messages", "algorithm", "correct"} | BOUND,
    "scatter ring:6": {"steps", "messages", "algorithm", "phases", "correct"} | BOUND,
    "gather ring:6": {"steps", "messages", "algorithm", "phases", "correct"} | BOUND,
    "exchange ring:6": {"steps", "messages", "algorithm", "phases", "correct"} | BOUND,
}  # fmt: skip


def run(command: str, folder: Path | None = None) -> SimpleNamespace:
    """Run a command in this process, in a folder; what it prints, and its exit status."""
    said, complained, here = io.StringIO(), io.StringIO(), Path.cwd()
    os.chdir(folder or here)
    try:
        with redirect_stdout(said), redirect_stderr(complained):
            status = CommandSession(command.split()).run()
    finally:
        os.chdir(here)
    return SimpleNamespace(returncode=status, stdout=said.getvalue(), stderr=complained.getvalue())


def run_apart(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, as scripts need."""
    words = [sys.executable, "-m", "mpinet", *command.split()]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=folder)


def hashed(found: dict | list) -> str:
    """What the contract says of digests: all but why a simple bound holds, and vcs of a load."""
    if isinstance(found, dict) and found.get("lower_by") in ("distance", "growth", "ends", "hops"):
        found = {name: value for name, value in found.items() if name != "lower_by"}
    if isinstance(found, dict) and "curves" in found:
        found = {"curves": [{k: v for k, v in c.items() if k != "vcs"} for c in found["curves"]]}
    canonical = json.dumps(found, sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


def result(command: str) -> dict:
    """The result of a command that works."""
    done = run(f"{command} --json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) - {"crossing", "preparation"} == ENVELOPE
    assert document["digest"] == hashed(document["result"])
    return document["result"]


@pytest.mark.costly
@pytest.mark.parametrize("command", FIELDS)
def test_a_result_has_the_fields_of_the_contract(command):
    assert FIELDS[command] <= set(result(command))


def test_the_page_says_of_every_command_what_its_function_does():
    made = runpy.run_path(str(Path(__file__).parents[3] / "docs/_extensions/contract.py"))
    assert made["page"]() == made["PAGE"].read_text(), "run docs/_extensions/contract.py"
    flood = "flood TOPO [--root NODE] [--faults FAULTS]\n```\n\nResult: steps, messages, "
    assert f"{flood}informed, eccentricity.\n" in made["sections"]()


@pytest.mark.parametrize("command", COMMANDS)
def test_shared_descriptions_leave_out_no_field(command):
    page = (Path(__file__).parents[3] / "docs/contract.md").read_text()
    shared = page.partition("Fields shared by several commands:")[2].partition("###")[0]
    items = [item for item in shared.split("\n* ") if f"`{command}`" in item.partition(": ")[0]]
    text = " ".join([described(page, command), *items])
    named = re.findall(r"\w+_\w+|\w+(?= [\[{])", returned(function_of(command).__doc__))
    assert {*named} <= {*re.findall(r"\w+", text)}


def described(page: str, command: str) -> str:
    """A command's section of the page, with the sections that it refers to."""
    text = page.partition(f"\n### {command}\n")[2].partition("\n### ")[0]
    others = re.findall(r"Result: as of `([\w ]+)`", text)
    return " ".join([text, *(described(page, other) for other in others)])


def test_the_result_of_a_script_has_the_fields_of_the_contract(tmp_path):
    (tmp_path / "script.py").write_text("from mpi4py import MPI\nMPI.COMM_WORLD.bcast(1)\n")
    done = run_apart("exec --on ring:6 --json script.py --out ignored", tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == ENVELOPE
    found = document["result"]
    costs = {"call", "calls", "messages", "hops", "bytes", "steps"}
    assert set(found) == {
        "script", "processors", "steps", "messages", "hops", "bytes", "unreceived",
        "unreceived_at", "output_sha256", "kinds", "calls",
    }  # fmt: skip
    assert [set(row) for row in found["kinds"]] == [costs]
    assert [set(row) for row in found["calls"]] == [costs | {"file", "line"}]
    assert found["calls"][0]["line"] == 2 and found["messages"] == 5


def test_what_crossed_between_ranks_stands_beside_the_result():
    for command in ("route ring:6", "flood ring:6", "broadcast ring:6", "gather ring:6"):
        done = run(f"{command} --mapping clusters --json")
        document = json.loads(done.stdout)
        assert document["crossing"] == {"mapping": "clusters", "messages": 0, "bytes": 0}
        assert document["digest"] == hashed(document["result"])


HALF = """
from mpinet import Topology, rule
from mpinet.networks.schedule import Schedule


@rule
def first_step(node, root, since, step, params):
    return 0 if step == 1 and since == 0 else -1


class Half(Topology):
    def __init__(self, n: int):
        super().__init__(f"{n}", size=n, ports=2)

    @rule
    def neighbor(node, port, params):
        return (node + 1 - 2 * port) % params[0]

    def schedules(self, root):
        return {"one": lambda: Schedule("one", root, first_step, self.params, (("one", 3),))}
"""


WRONG_SUM = """
from mpinet.programs.operators import Operator


class WrongSum(Operator):
    name = "wrongsum"

    def oper(self, j, i, low, high):
        return low + high, low + high

    def expected(self, values):
        return values * 0
"""


def test_a_broadcast_that_leaves_processors_out_says_so_and_ends_with_status_1():
    said = "mpinet: The broadcast is incomplete: 128 of 256 processors are informed."
    command = "broadcast hdn:2x2,super=0/1 --algorithm printed"
    shown, told = (run(f"{command}{how}") for how in ("", " --json"))
    for done in (shown, told):
        assert done.returncode == 1
        assert done.stderr.splitlines() == [said]
    assert "informed     128 of 256: incomplete" in shown.stdout
    found = json.loads(told.stdout)["result"]
    assert found["informed"] == 128
    assert found["steps"] == sum(phase["steps"] for phase in found["phases"])


def test_a_schedule_of_ones_own_runs_as_far_as_it_comes_and_check_refuses_it(tmp_path):
    (tmp_path / "half.py").write_text(HALF)
    done = run("broadcast half:Half:8 --json", tmp_path)
    found = json.loads(done.stdout)["result"]
    assert (done.returncode, found["informed"], found["steps"]) == (1, 2, 1)
    done = run("check half:Half:8", tmp_path)
    assert done.returncode == 2
    assert "schedule one from 0 does not inform processor 2." in done.stderr


def test_a_result_that_is_not_correct_is_a_failed_run(tmp_path):
    (tmp_path / "off.py").write_text(WRONG_SUM)
    done = run("ascend ring:8 --operator off:WrongSum --json", tmp_path)
    assert json.loads(done.stdout)["result"]["correct"] is False
    assert done.returncode == 1
    assert "The result is wrong" in done.stderr


def test_what_prepares_a_tree_stands_beside_the_result():
    told = json.loads(run("broadcast ccc:3 --algorithm tree --json").stdout)
    assert told["preparation"] == {"steps": 1 + 6, "messages": 2 * 23}
    assert "preparation  7 steps, 46 messages" in run("broadcast ccc:3 --algorithm tree").stdout
    told = json.loads(run("broadcast hypercube:3 --json").stdout)
    assert told["preparation"] == {"steps": 0, "messages": 0}
    assert "preparation" not in run("broadcast hypercube:3").stdout


def test_rows_have_the_fields_of_the_contract():
    wanted = {"name", "parameters", "range", "example", "paper", "specification"}
    assert all(wanted <= set(row) for row in result("topologies"))
    row = result("neighbors hypercube:3 5")[1]
    assert row == {"port": 1, "neighbor": 7, "reverse_port": 1, "channel": 16, "address": "111"}
    absent = result("neighbors mesh:2x2 0")
    assert [row["neighbor"] for row in absent] == [2, None, 1, None]


def test_the_digest_of_verdicts_leaves_out_their_times_and_tested_ranges():
    done = run(f"verify {OWN_CLAIMS} RING-D RING-OFF --json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    wanted = {
        "id", "paper", "place", "statement", "relation", "claimed", "measured", "range", "verdict",
        "witness", "reason", "seconds", "tested",
    }  # fmt: skip
    assert all(wanted <= set(row) for row in document["result"])
    assert [row["verdict"] for row in document["result"]] == ["holds", "refuted"]
    lasting = [
        {name: value for name, value in row.items() if name not in ("tested", "at")}
        | {"seconds": None}
        for row in document["result"]
    ]
    canonical = json.dumps(lasting, sort_keys=True, separators=(",", ":"))
    assert document["digest"] == sha256(canonical.encode()).hexdigest()


def test_a_prediction_tells_memory_and_seconds_which_its_digest_leaves_out():
    command = "predict route torus:6x6 --ranks 4 --rank 3 --bandwidth 1"
    document = json.loads(run(f"{command} --json").stdout)
    found = document["result"]
    assert {"steps", "messages", "bytes", "all_messages", "all_bytes"} <= set(found)
    assert (found["ranks"], found["rank"], found["processors"]) == (4, 3, 9)
    assert found["memory"].pop("peak") >= found["memory"].pop("before") > 2**20
    seconds = found.pop("seconds")
    told = min(found["messages"], found["steps"] * found["partners"])
    # In each step two rounds of 256 bytes; a count for a partner, 8 bytes, is handed on in one.
    sent = found["bytes"] + found["steps"] * 2 * 256 + told * 8
    assert seconds["transfer"] == pytest.approx(sent / 1e9)
    assert seconds["total"] == pytest.approx(sum(seconds.values()) / 2)
    del found["memory"]
    canonical = json.dumps(found, sort_keys=True, separators=(",", ":"))
    assert document["digest"] == sha256(canonical.encode()).hexdigest()


def test_a_measurement_that_fails_is_a_failed_run():
    done = run(f"verify {OWN_CLAIMS} RING-BREAKS")
    assert (done.returncode, "1 failed" in done.stdout) == (1, True)


def hash_of_lines(lines) -> str:
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


@pytest.mark.parametrize("name", ["torus:3x4x2", "debruijn:5", "ccc:4", "fattree:3,2"])
def test_the_hash_of_edges_is_that_of_the_sorted_links(name):
    topology = mpinet.open(name)
    links = set()
    for u in range(topology.size):
        for port in range(topology.ports):
            v = topology.neighbor(u, port)
            if v >= 0:
                links.add((min(u, v), max(u, v)))
    shown = result(f"show {name} --distances")
    assert shown["edges_sha256"] == hash_of_lines(f"{u} {v}" for u, v in sorted(links))
    graph = nx.Graph(links)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    assert shown["links"] == len(links)
    assert shown["diameter"] == nx.diameter(graph)
    assert shown["distance_sum"] == sum(sum(row.values()) for row in lengths.values())
    degrees = [degree for _, degree in graph.degree]
    histogram = {str(d): degrees.count(d) for d in sorted(set(degrees))}
    assert shown["degree_histogram"] == histogram


@pytest.mark.parametrize("name", ["fattree:3,2", "roadrunner:3,2,2", "torus:3x4"])
def test_distances_of_processors_are_told_beside_those_of_all_nodes(name):
    topology = mpinet.open(name)
    rows = dict(nx.all_pairs_shortest_path_length(to_networkx(topology)))
    hosts = range(topology.hosts)
    lengths = [rows[u][v] for u in hosts for v in hosts if u != v]
    shown = result(f"show {name} --distances")
    if topology.hosts == topology.size:
        assert not [key for key in shown if "host" in key]
        return
    assert shown["host_diameter"] == max(lengths)
    assert shown["host_distance_sum"] == sum(lengths)
    assert shown["average_host_distance"] == sum(lengths) / len(lengths)
    assert shown["distance_sum"] == sum(sum(row.values()) for row in rows.values())


def test_the_file_of_edges_has_the_hash_that_is_shown(tmp_path):
    edges = tmp_path / "edges.txt"
    shown = result(f"show torus:3x5 --edges {edges}")
    assert sha256(edges.read_bytes()).hexdigest() == shown["edges_sha256"]


@pytest.mark.parametrize("name", ["torus:3x5", "ccc:3", "fattree:4,2", "gmn:3,12"])
def test_a_graphml_file_of_edges_is_the_network(tmp_path, name):
    file = tmp_path / "edges.graphml"
    shown = result(f"show {name} --edges {file}")
    graph, topology = nx.read_graphml(file, node_type=int), mpinet.open(name)
    assert nx.utils.graphs_equal(nx.Graph(graph.edges), nx.Graph(to_networkx(topology).edges))
    assert dict(graph.nodes(data="address")) == {u: topology.address(u) for u in graph}
    assert list(graph) == list(range(topology.size))
    again = result(f"show graph:{file}")
    assert again["edges_sha256"] == shown["edges_sha256"]


def test_a_csv_file_of_edges_has_named_columns(tmp_path):
    file = tmp_path / "edges.csv"
    result(f"show torus:3x5 --edges {file}")
    with file.open(newline="") as table:
        links = {(int(row["source"]), int(row["target"])) for row in csv.DictReader(table)}
    assert links == set(to_networkx(mpinet.open("torus:3x5")).edges)


@pytest.mark.parametrize("name", ["torus:3x4", "ccc:3", "ring:5*hypercube:2"])
def test_the_hash_of_paths_is_that_of_the_paths_asked_one_by_one(name):
    topology = mpinet.open(name)
    routing = topology.routing()
    pairs = [(s, t) for s in range(topology.size) for t in range(topology.size) if s != t]
    lines = [" ".join(map(str, path(topology, routing, s, t)[0])) for s, t in pairs]
    shown = result(f"route {name} --pairs all --mode ideal --paths")
    assert shown["paths_sha256"] == hash_of_lines(lines)
    assert shown["hops_total"] == sum(line.count(" ") for line in lines)


def test_the_hash_of_a_schedule_is_that_of_its_sends():
    sends = ["1 0 0 1", "2 0 1 4", "2 1 0 2", "3 2 0 3"]  # docs/papers/hdn, 6.1, ring of 5
    assert result("broadcast ring:5 --schedule")["schedule_sha256"] == hash_of_lines(sends)


def test_out_files_hold_the_result(tmp_path):
    done = run("route ring:6 --out r.json", tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "r.json").read_text())["result"]["messages"] == 6
    assert run("topologies --out t.csv", tmp_path).returncode == 0
    with (tmp_path / "t.csv").open() as file:
        assert {"name", "example"} <= set(next(csv.DictReader(file)))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.json", "t.csv"]


def rows(command: str, folder: Path) -> list[dict[str, str]]:
    """What a command, run in this process, writes as CSV."""
    word, _, others = command.partition(" ")
    assert CommandSession([word, "--out", f"{folder}/t.csv", *others.split()]).run() == 0
    with (folder / "t.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("command", FIELDS)
def test_a_row_says_what_was_run_and_has_plain_cells(tmp_path, capsys, command):
    (row, *_) = found = rows(f"{command} --seed 3 --json", tmp_path)
    document = json.loads(capsys.readouterr().out)
    assert row["command"] == command.split()[0]
    assert row["topology"] == document["topology"]
    assert (row["seed"], row["ranks"]) == ("3", "1")
    model = {key.removeprefix("model."): row[key] for key in row if key.startswith("model.")}
    assert model == {name: str(value) for name, value in document["model"].items()}
    assert not [cell for row in found for cell in row.values() if cell[:1] in ("[", "{")]
    if "steps" in document["result"]:
        assert row["steps"] == str(document["result"]["steps"])


def test_a_row_has_the_options_that_were_given(tmp_path):
    (row,) = rows("route ring:6 --pairs hotspot:2 --policy fifo --ports one", tmp_path)
    assert row["option.pairs"] == "hotspot:2"
    assert (row["model.policy"], row["model.ports"]) == ("fifo", "one")


def test_phases_have_columns_of_their_own(tmp_path):
    (row,) = rows("ascend ring:8 --operator sum", tmp_path)
    steps = [row[f"phases.dimension {k}.steps"] for k in range(3)]
    assert steps == ["1", "2", "4"]  # partners on a ring are 2^k apart


def test_a_path_is_a_row_a_node(tmp_path):
    found = rows("path torus:3x4 1,0 0,1", tmp_path)
    assert [row["hop"] for row in found] == ["0", "1", "2"]
    assert [found[0]["address"], found[-1]["address"]] == ["1,0", "0,1"]
    assert found[-1]["port"] == "" and {row["hops"] for row in found} == {"2"}
    topology = mpinet.open("torus:3x4")
    for here, there in itertools.pairwise(found):
        assert topology.neighbor(int(here["node"]), int(here["port"])) == int(there["node"])


def test_what_processors_return_is_a_row_a_processor(tmp_path):
    (tmp_path / "own.py").write_text("def square(node):\n    return [node.id, node.id**2]\n")
    found = rows(f"run {tmp_path}/own.py:square --on ring:4", tmp_path)
    assert [row["value"] for row in found] == [f"{u};{u * u}" for u in range(4)]
    assert [row["processor"] for row in found] == ["0", "1", "2", "3"]


def test_what_calls_of_a_script_cost_has_columns_of_its_own(tmp_path):
    script = "from mpi4py import MPI\nfor _ in 'two':\n MPI.COMM_WORLD.bcast(1)\n"
    (tmp_path / "own.py").write_text(script)
    (row,) = rows(f"exec --on ring:4 {tmp_path}/own.py", tmp_path)
    assert row["kinds.bcast.calls"] == row["calls.own.py 3 bcast.calls"] == "12"
    assert row["kinds.bcast.messages"] == row["messages"] == "9"


@pytest.mark.parametrize(
    "command",
    ["show ccc:3", "route ring:6", "predict flood ring:6 --ranks 2 --rank 1"],
)
def test_out_files_hold_what_json_prints_also_when_a_person_is_shown_it(tmp_path, command):
    document = json.loads(run(f"{command} --json").stdout)
    run(f"{command} --out r.json", tmp_path)
    kept = json.loads((tmp_path / "r.json").read_text())
    assert set(kept["result"]) == set(document["result"])
    assert kept["digest"] == document["digest"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("show hypercube:x", "'x' is not a whole number"),
        ("flood ring:6 --ports one", "--ports one does not apply"),
        ("route ring:6 --mode ideal --policy fifo", "--policy fifo does not apply"),
        ("route ring:6 --pairs everybody", "no traffic pattern 'everybody'"),
        ("route ring:6 --faults node:9", "Node 9 is not in ring:6"),
        ("route ring:6 --faults link:0-3", "no link 0-3"),
        ("route ring:6 --faults /dev/zero", "has more than 67108864 characters"),
        ("route ring:6 --routing magic", "no routing 'magic'"),
        ("broadcast ring:6 --algorithm magic", "no broadcast 'magic'"),
        ("broadcast fattree:2,2 --root 5", "is a switch"),
        ("predict route ring:6 --ranks 4 --rank 4", "a rank between 0 and ranks - 1"),
        ("predict route ring:6 --ranks 4 --latency 0", "'0' is not a positive number"),
        ("predict route ring:6 --ranks 4 --paths", "--paths does not apply"),
        ("predict flood ring:6 --ranks 4 --mapping measured", "--mapping measured does not apply"),
        ("route torus:4x4 --routing adaptive", "give one of dimensions, parity"),
        ("path mesh:4x4 0 5 --routing adaptive", "works only in mpinet load"),
        ("predict broadcast ring:6 --ranks 4 --schedule", "--schedule does not apply"),
        ("predict ascend ring:8 --operator sum --ranks 2", "but not ring:8 on 2 ranks"),
        ("predict show ring:8 --ranks 2", "invalid choice: 'show'"),
        ("predict route ring:8 0 5 --ranks 2", "use mpinet path ring:8 0 5"),
        ("predict route ring:8 0 --ranks 2", "needs SRC and DST, as in"),
        ("gossip mesh:3x3 --algorithm cycle", "no gossip 'cycle'"),
        ("reduce lens:2,2,2 --items 2 --algorithm trees", "has no pipeline 'trees' on one port"),
        ("broadcast ring:6 --items 0", "moves 1 to 1,048,576 items, not 0"),
        ("broadcast ring:6 --items 2 --schedule", "--schedule applies to one item"),
        ("broadcast ring:6 --items x", "--items"),
        ("predict broadcast ring:6 --items 2 --ranks 2", "--items does not apply"),
        ("allreduce ring:6 --duplex half", "need full-duplex links"),
        ("allreduce ring:6 --ports all --algorithm cycle", "no pipeline 'cycle' on all ports"),
        ("reduce ring:6 --root 9", "Node 9 is not in ring:6"),
        ("circulate ring:6", "2^"),
        (f"verify {OWN_CLAIMS} RING-Z", "no claim 'RING-Z'"),
        (f"verify {OWN_CLAIMS} --at n", "NAME=VALUE"),
        (f"verify {OWN_CLAIMS} --at n=99", "no point"),
        (f"verify {OWN_CLAIMS} --list --budget full", "--budget does not apply"),
        ("gather ring:6 --root 9", "Node 9 is not in ring:6"),
        ("exchange ring:5000", "at most 4,096 processors"),
        ("ascend ring:6 --operator sum", "2^q processors"),
        ("ascend ring:8 --operator bitonic-merge", "no ascend form"),
        ("show ring:6 --mapping random", "does not apply without --distances"),
        ("show ring:6 --out result.txt", ".json, .csv or .jsonl"),
        (
            "show ring:6 --edges ring.gml",
            ".csv, .graphml, .dot or .anynet",
        ),
        ("route ring:6 --seed -1", "whole number"),
        ("route ring:6 --dist", "route has no option --dist: mpinet route --help lists"),
        ("show debruijn:14 --routing x", "show has no option --routing"),
        ("route debruijn:14", "no routing rule of its own"),
        ("exec script.py --on ring:6", "mpinet exec --on ring:6 script.py"),
    ],
)
def test_wrong_usage_gets_one_sentence_and_status_2(command, said):
    done = run(command)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1
    document = json.loads(run(f"{command} --json").stdout)
    assert document["status"] == 2 and said in document["error"]


def test_help_of_every_command_needs_no_numba_mpi_networkx_and_numpy():
    code = (
        "import sys\nfrom mpinet.cli import main\nfrom mpinet.commands.catalogue import COMMANDS\n"
        "for words in ([], *(name.split() for name in COMMANDS if name != 'launch')):\n"
        "    try: main([*words, '--help'])\n    except SystemExit: pass\n"
        "print([m for m in ('numba', 'mpi4py', 'networkx', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.count("usage: mpinet ") == len(COMMANDS)
    assert done.stdout.endswith("[]\n")


def test_the_digest_of_ones_own_program_is_the_same_wherever_its_file_lies(tmp_path):
    folders = [tmp_path, tmp_path / "deeper/still"]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "own.py").write_text(OWN_PROGRAM)
        (folder / "own.edges").write_text("0 1\n1 2\n2 0\n")
    for command in ("run {}/own.py:talk --on ring:4", "embed graph:{}/own.edges complete:4"):
        done = [json.loads(run(f"{command.format(one)} --json").stdout) for one in folders]
        assert done[0]["digest"] == done[1]["digest"]
        assert not any(str(tmp_path) in json.dumps(one["result"]) for one in done)


OWN_PROGRAM = """
def talk(node):
    yield node.send(0, node.id)
"""
