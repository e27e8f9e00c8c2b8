"""Every benchmark runs on its small size; the command's document, digest and errors."""

import json
import re
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mpinet.bench import catalogue, footprint, memory, starting
from mpinet.bench.benchmark import CLOCKS, BenchSetting, within
from mpinet.bench.catalogue import BENCHMARKS, run_here, run_on, select
from mpinet.bench.sidebyside import WORKLOADS
from mpinet.cli.session import CommandSession
from mpinet.errors import MpinetError, TransportError, UsageError
from mpinet.launching import launcher
from mpinet.networks import open as open_topology
from mpinet.report.benchmarks import page

CONTRACT = {"name", "figure", "unit", "baseline", "ratio", "command"}
HERE = [
    one.name
    for one in BENCHMARKS.values()
    if one.runs_on(1) and not one.starts and not one.name.startswith("booksim-")
]


def nobody(*done):
    """Watch, and say nothing."""


@pytest.mark.costly
@pytest.mark.parametrize("name", HERE)
def test_a_benchmark_gives_figures_on_its_small_size(name):
    benchmark = BENCHMARKS[name]
    rows = run_here([benchmark], BenchSetting("small", repeat=1), nobody)
    assert [row.against for row in rows] == [baseline.name for baseline in benchmark.baselines]
    for row in rows:
        assert row.figure > 0 or (name, row.figure) == ("optimum-gap", 0)
        if row.absent is None:
            assert row.ratio == row.figure / row.baseline
        else:
            assert re.search("is not installed|--(booksim|loggopsim) PATH", row.absent)
            assert row.baseline is None


def command_of(words):
    """mpinet's words in a command line that measures its memory."""
    return words[words.index("mpinet.bench.footprint") + 1 :]


def test_bytes_are_the_slope_between_two_peaks(monkeypatch):
    def last_words(ranks, words):
        words = command_of(words)
        if words[0] == "exec":
            assert words[1] == "--on" and words[3] == "-c"
            return f"peak bytes {10**8 + 20000 * open_topology(words[2]).size}\n"
        size, messages = open_topology(words[1]).size, int(words[3].removeprefix("random:"))
        peak = 10**8 + 16 * size + 24 * messages
        return f"messages  7\npeak bytes {peak}\n"

    monkeypatch.setattr(memory, "launch", last_words)
    names = ["memory-processor", "memory-ports32", "memory-message", "memory-script"]
    rows = run_here(select(names), BenchSetting("full", repeat=2), nobody)
    assert [row.name for row in rows] == names
    figures = [row.figure for row in rows]
    assert figures == [16, 16, 24, 20000]
    assert [row.reached for row in rows] == [True, True, True, False]
    assert [row.baseline for row in rows[:3]] == [4, 4, 8]
    assert 1000 < rows[3].baseline < 10000


SAYS = """#!/bin/sh
cp "$1" "$0.cfg"
echo "Injected flit rate average= 0.9"
echo "Injected flit rate average = 0.125 (1 samples)"
echo "Hops average = 3.5 (1 samples)"
echo "Total run time 0.002"
exit 255
"""


def test_booksims_figure_is_the_flits_times_links_that_it_prints(tmp_path):
    binary = tmp_path / "booksim"
    binary.write_text(SAYS)
    binary.chmod(0o755)
    setting = BenchSetting("small", repeat=1, seed=6, booksim=str(binary))
    (row,) = run_here(select(["load-torus-wormhole"]), setting, nobody)
    # 64 nodes, 200 cycles: 1,600 flits, 4,000 flit-hops in 2 ms.
    assert row.against == "BookSim 2" and row.baseline == pytest.approx(2)
    assert row.ratio == row.figure / row.baseline
    assert row.command.endswith("--size small --booksim PATH")
    words = Path(f"{binary}.cfg").read_text().replace("\n", " ")
    for said in ("topology = torus; k = 4; n = 3;", "packet_size = 5; injection_rate = 0.02;"):
        assert said in words
    for text in ("#!/bin/sh\necho Total run time\n", "#!/bin/sh\necho no >&2\n", "no program"):
        binary.write_text(text)
        (row,) = run_here(select(["load-torus-wormhole"]), setting, nobody)
        assert row.figure is None and re.search(r"BookSim|cannot be run", row.error)


TAKES = """#!/bin/sh
awk -v OFS="" '
/injection_rate/ { split($0, each, /injection_rate = |;/); rate = each[3] }
END {
    print "Injected flit rate average = ", rate
    print "Accepted flit rate average = ", (rate < 0.4 ? rate : 0.4)
    print "Hops average = 3"
    print "Total run time 0.5"
}' "$1"
"""


def test_rows_beside_booksim_compare_what_is_accepted_where_it_saturates_and_how_it_begins(
    tmp_path,
):
    binary = tmp_path / "booksim"
    binary.write_text(TAKES)
    binary.chmod(0o755)
    setting = BenchSetting("small", repeat=1, booksim=str(binary), clock=CLOCKS["cpu"])
    names = ["booksim-flat-accepted", "booksim-flat-saturation"]
    accepted, saturation, faster = run_here(select(names), setting, nobody)
    assert accepted.baseline == 0.4 and 0 < accepted.figure < 1
    # 0.4 of a load is 95 % up to 0.421; loads are told apart by 1 / 64.
    assert saturation.baseline == 26 / 64 and 0 < saturation.figure <= 1
    assert faster.name.endswith("-BookSim-2-with-speedup") and faster.baseline == 26 / 64
    assert faster.command == saturation.command
    (speed,) = run_here(select(["booksim-flat"]), replace(setting, clock=CLOCKS["wall"]), nobody)
    # 16 nodes, 20 steps, 0.4 flits, 2 links each, in half a second.
    assert speed.baseline == pytest.approx(16 * 20 * 0.4 * 2 / 0.5 / 1e6)
    assert str(within(0.02)) == "ratio within 0.02 of 1"
    reached = [within(0.02).attained(9, ratio) for ratio in (0.97, 0.981, 1.0, 1.019, 1.03, None)]
    assert [value is not None and value >= 1 for value in reached] == [
        False, True, True, True, False, False,
    ]  # fmt: skip
    terminals = WORKLOADS["flat-c4"]
    assert terminals.topology.hosts == 64 < terminals.topology.size
    said = "Injected flit rate average = 0.5\nHops average = 3\n"
    # Two links between routers, and those from and to the processors.
    assert replace(terminals, steps=10).flit_hops(said) == 64 * 10 * 0.5 * 4


def test_scripts_are_not_measured_without_an_mpi_library(monkeypatch):
    def missing():
        raise TransportError("There is none.")

    monkeypatch.setattr(catalogue, "mpi", missing)
    rows = run_here(select(["scripts", "idle-one"]), BenchSetting("small", repeat=1), nobody)
    assert [(row.name, row.absent) for row in rows] == [
        ("idle-one", None),
        ("scripts-ring", "There is none."),
        ("scripts-shift", "There is none."),
        ("scripts-arrays", "There is none."),
        ("scripts-halo", "There is none."),
        ("scripts-alltoall", "There is none."),
        ("scripts-bcast", "There is none."),
    ]


def test_the_largest_machines_run_once_and_need_the_memory_of_all_ranks(monkeypatch):
    commands = []
    memory.run_whole.cache_clear()

    def last_words(ranks, words):
        commands.append(" ".join(command_of(words)))
        return f"peak bytes {3 * 2**29}\nsteps  9\n" + f"peak bytes {3 * 2**28}\n" * (ranks - 1)

    monkeypatch.setattr(memory, "launch", last_words)
    rows = run_on([1, 2], select(["scale"]), BenchSetting("full", repeat=5), nobody)
    memory.run_whole.cache_clear()
    sizes = [row for row in rows if row.unit == "GiB"]
    assert [(row.figure, row.ranks, row.rounds) for row in sizes] == [(1.5, 1, 1)] * 10 + [
        (2.25, 2, 1)
    ] * 10
    assert [row.baseline for row in sizes[:2]] == [0.375, 2.0]
    assert [row.reached for row in sizes if row.name.startswith("scale-w1")] == [True, False]
    assert "ascend hypercube:28 --operator sum" in commands
    seconds = {row.name: row for row in rows if row.unit == "s"}
    assert len(seconds) == 20 and all(row.figure > 0 for row in seconds.values())
    assert seconds["scale-distances-time"].goal == "figure <= 30"
    assert sorted(Counter(commands).values()) == [2] * 11


def test_the_machines_of_the_memory_rows_have_32_ports_where_that_is_promised():
    sizes = BENCHMARKS["memory-ports32"].sizes
    assert {open_topology(name).ports for name in (*sizes["full"], *sizes["small"])} == {32}


def test_the_peak_of_a_command_is_told_after_its_result():
    words = [launcher.sys.executable, "-m", "mpinet.bench.footprint"]
    told = launcher.start([*words, "route", "hypercube:4"]).splitlines()
    assert told[1].split() == ["messages", "16"]
    name, number = told[-1].rsplit(" ", 1)
    assert name == footprint.PEAK and int(number) > 2**20
    with pytest.raises(MpinetError, match=r"status 2: mpinet: There is no topology 'nonsense'"):
        launcher.start([*words, "route", "nonsense:4"])


def test_starting_rows_time_the_command_and_what_it_cannot_do_without(monkeypatch):
    started = []

    def launch(ranks, words, settings=None):
        started.append((ranks, words[1:3], settings))
        return ""

    monkeypatch.setattr(starting, "launch", launch)
    monkeypatch.setattr(starting, "start", lambda words: launch(1, words))
    ticks = iter(range(10**6))
    setting = BenchSetting("full", repeat=1, ranks=2, wall=lambda: next(ticks))
    rows = run_here(select(["start"]), setting, nobody)
    measured = {row.name: (row.figure, row.ratio, row.reached) for row in rows if row.figure}
    assert measured == {
        "start-warm-ranks": (1, 1, True),
        "start-cold-ranks": (1, 1, True),
    }
    cold = [settings for _, _, settings in started if settings]
    assert len(cold) == 1 and not Path(cold[0]["MPINET_CACHE"]).exists()
    assert {ranks for ranks, _, _ in started} == {2}


def test_a_row_is_told_as_soon_as_it_is_there(capsys):
    seen = []
    chosen = select(["idle-one", "w3"])
    setting = BenchSetting("small", repeat=1)
    first, second, third = run_here(chosen, setting, lambda *done: seen.append(done), seen.append)
    assert seen == [first, (1, 3), second, (2, 3), third, (3, 3)]
    words = ["bench", "idle-one", "--size", "small", "--repeat", "1", "--progress"]
    assert CommandSession(words).run() == 0
    assert capsys.readouterr().err.startswith("idle-one  1  ")


def test_rows_for_several_ranks_are_absent_on_one():
    chosen = [one for one in BENCHMARKS.values() if one.several]
    rows = run_here(chosen, BenchSetting(), nobody)
    assert len(rows) == len(chosen) >= 8
    assert all(row.figure is None and "--ranks 1,2" in row.absent for row in rows)


def test_ranks_are_started_by_the_launcher_and_their_rows_collected(monkeypatch):
    jobs = []

    def launch(ranks, words, **settings):
        jobs.append((ranks, words[4:]))
        return json.dumps({"result": [{"name": "from the job"}]})

    monkeypatch.setattr(catalogue, "launch", launch)
    monkeypatch.setattr(catalogue, "find_launcher", lambda: "mpirun")
    setting = BenchSetting("small", repeat=1, seed=4)
    rows = run_on([1, 2], select(["idle"]), setting, nobody)
    assert rows[0].name == "idle-one" and rows[1:] == [{"name": "from the job"}]
    words = "bench idle-ranks --json --no-progress --size small --repeat 1 --seed 4"
    assert jobs == [(2, words.split())]
    monkeypatch.setattr(catalogue, "launch", lambda *_, **__: "no document")
    (row,) = run_on([2], select(["idle-ranks"]), setting, nobody)
    assert row.figure is None and "2 ranks did not give its result" in row.error


def test_no_launcher_gets_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(launcher.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="there is no mpirun: pip install"):
        run_on([1, 2], select(["idle"]), BenchSetting("small"), nobody)
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(UsageError, match="run mpinet bench without a launcher"):
        run_on([1, 2], select(["idle"]), BenchSetting("small"), nobody)


def test_a_process_that_fails_is_an_error_that_repeats_its_words():
    words = [launcher.sys.executable, "-c", "import sys; sys.exit('the reason')"]
    with pytest.raises(MpinetError, match=r"status 1: the reason"):
        launcher.start(words)


def test_names_families_and_patterns_select():
    assert [one.name for one in select(["w3"])] == ["w3-speed", "w3-time"]
    assert [one.name for one in select(["idle*", "w3-time"])] == [
        "w3-time",
        "idle-one",
        "idle-ranks",
    ]
    assert [one.name for one in select(["start-warm"])] == ["start-warm"]
    large = select(["optimum"])
    assert [one.name for one in large] == ["optimum-gap", "optimum-time"]
    named = [one for one in BENCHMARKS.values() if one.name.startswith("scale-")]
    beside = select(["booksim"])
    assert len(beside) == 4 * len(WORKLOADS) - 4
    unnamed = [one for one in BENCHMARKS.values() if one not in [*named, *large, *beside]]
    assert unnamed == select([])
    assert select(["scale"]) == named and len(named) == 40
    with pytest.raises(UsageError, match="did you mean idle-one"):
        select(["idl-one"])


def document(capsys, *words):
    assert CommandSession(["bench", *words, "--json"]).run() == 0
    return json.loads(capsys.readouterr().out)


def test_the_command_gives_the_rows_of_the_contract_and_a_digest_that_lasts(capsys):
    words = ["idle-one", "w3", "--size", "small", "--repeat", "2", "--clock", "cpu"]
    found = document(capsys, *words)
    assert all(set(row) >= CONTRACT for row in found["result"])
    assert [row["rounds"] for row in found["result"]] == [2, 2, 2]
    lasting = [{k: row[k] for k in ("name", "unit", "command")} for row in found["result"]]
    canonical = json.dumps(lasting, sort_keys=True, separators=(",", ":"))
    assert found["digest"] == sha256(canonical.encode()).hexdigest()
    assert document(capsys, *words)["digest"] == found["digest"]


def test_the_list_names_every_row_of_the_goals(capsys):
    rows = document(capsys, "--list")["result"]
    stated = {row["name"]: row["goal"] for row in rows}
    assert len(stated) == len(rows) and set(stated) > set(BENCHMARKS)
    assert stated["w5-4k-igraph"] == "ratio >= 10" and stated["w5-4k-scipy"] is None
    assert stated["w1-n20"] == "ratio >= 0.4" and stated["w1-scaling"] == "ratio >= 0.7"
    assert stated["idle-one"] == "figure <= 12" and stated["idle-ranks"] == "figure <= 25"


def test_the_table_says_which_goals_are_reached_and_what_is_absent():
    row = {
        "name": "one", "ranks": 1, "figure": 123.4, "unit": "us", "against": "hare",
        "baseline": 0.5, "ratio": 246.8, "spread": {"ratio": [200, 250]}, "goal": "figure <= 9",
        "reached": False, "attained": 0.07, "absent": None, "error": None,
    }  # fmt: skip
    gone = {**row, "name": "two", "figure": None, "reached": None, "absent": "it is late"}
    lines = page([row, {**row, "reached": True, "attained": 1.5}, gone]).splitlines()
    assert re.split(r" {2,}", lines[2]) == [
        "one", "1", "123", "us", "hare", "0.5", "247 (200..250)", "figure <= 9", "NO (0.07 of it)",
    ]  # fmt: skip
    assert lines[3].endswith("yes (1.5 of it)")
    assert lines[-4:] == ["absent:", "two  it is late", "", "1 of 2 goals reached"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["w9"], "no benchmark 'w9'"),
        (["--ranks", "0"], "is not a list of rank counts"),
        (["--ranks", "1,x"], "is not a list of rank counts"),
        (["--repeat", "0"], "not a number of rounds"),
        (["--list", "--repeat", "3"], "--repeat does not apply with --list"),
        (["w3", "--booksim", "/bin/true"], "--booksim has no effect"),
        (["load", "--booksim", "/nowhere"], "is not a program"),
        (["w3", "--loggopsim", "/bin/true"], "--loggopsim has no effect: only the rows"),
        (["replay", "--loggopsim", "/nowhere"], "--loggopsim '/nowhere' is not a program"),
    ],
)
def test_wrong_usage_gets_a_sentence(capsys, words, said):
    assert CommandSession(["bench", *words]).run() == 2
    assert said in capsys.readouterr().err
