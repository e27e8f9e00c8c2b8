"""Command lines that are wrong, and the words of the sentence that shows the way out."""

import pytest

import mpinet
from mpinet.cli.commands import parse
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError

COSTS = "replay allreduce:ring,1kB --on ring:4"

WRONG = {
    "exec ring.py --on ring:4": "options go before the script: mpinet exec --on ring:4 ring.py",
    "exec ring.py 5 --on=ring:4 6": "mpinet exec --on=ring:4 ring.py 5 6",
    "exec -m pkg --seed 3 --on ring:4": "mpinet exec --on ring:4 -m pkg --seed 3",
    "exec --np 4 ring.py": "the network sets the number of processors, as in --on complete:4",
    "exec --on 4 ring.py": "did you mean complete:4 or ring:4?",
    "load ring:4 --rate 0.1-0.5": "0.1..0.5/5 for five rates",
    "load ring:4 --rate 0.1:0.5:0.1": "0.1..0.5/5 for five rates",
    "load ring:4 --rate 10%": "0.1 for 10%",
    "load ring:4 --injection-rate 0.1": "did you mean --rate?",
    "load ring:4 --traffic uniform": "did you mean --pattern or --pairs?",
    f"{COSTS} --bandwidth 1GB/s": "did you mean --time-byte?",
    "broadcast ring:4 --from 1": "did you mean --root?",
    "broadcast ring:4 --title x": "mpinet play has this option",
    "ascend lst:3 --routing paper": "commands, such as mpinet draw, have this option.",
    "load ring:4 --rout valiant": "did you mean --routing?",
    "optimum broadcast ring:4 --timelimit 3": "did you mean --time-limit?",
    "replay x.goal --on ring:4 --nic 3": "mpinet replay --help lists all options",
    "find --degree 4 --nodes 20": "mpinet find --help lists all options",
    "draw ring:4 --labels number": "did you mean --label?",
    "pareto allgather --on ring:8": "as in: mpinet pareto allgather ring:8",
    "gossip --on ring:8": "as in: mpinet gossip torus:8x8",
    "load torus:4x4 --routing xy": "did you mean dimensions? it has: dimensions, parity, valiant,",
    "load torus:4x4 --routing dor": "did you mean dimensions?",
    "load dragonfly:2,4,2 --routing ugal": "did you mean ugal-l?",
    "load dragonfly:2,4,2 --routing minimal,ugal": "did you mean ugal-l?",
    "route torus:4x4 --routing xy": "it has: dimensions, parity, valiant, updown.",
    "route torus:4x4 --routing adaptive": "give one of dimensions, parity, valiant, updown.",
    "route torus:4x4 --pairs tornad": "did you mean tornado?",
    "load torus:4x4 --pattern random:5": "give uniform, which generates messages in every step",
    "load torus:4x4 --pattern randperm": "give permutation, which generates messages",
    f"{COSTS} --time-byte 100Gbps": "bits a second are Gbit/s, bytes a second GB/s",
    f"{COSTS} --time-byte 100GBps": "bytes a second are GB/s",
    f"{COSTS} --time-byte 4 --latency 1microsecond": "times have s, ms, us, ns, ps or fs",
    "show torus:8*8": "did you mean torus:8x8?",
    "show slimfly:6": "the nearest primes are 5 and 7",
    "show slimfly:24": "the nearest primes are 23 and 29",
    "compare ring:4 --only diamater": "did you mean diameter?",
    "measure ring:4 diamter": "did you mean diameter",
    "measure diamter ring:4": "no measure 'diamter': did you mean diameter",
    "measure girth ring:4": "no measure 'girth': there are",
    "verify STH-T1-generl": "did you mean STH-T1-general?",
    "verify gmnn": "did you mean gmn?",
    "optimum torus:4x4 broadcast": "as in: mpinet optimum broadcast torus:4x4",
    "load ring:4 --pattern groups:tornado@2+uniform": "moves nothing on the ring of 2 groups",
    "sweep nofile.toml": "there is no file 'nofile.toml'",
    "play nofile.npz": "there is no file 'nofile.npz'",
    "plot nofile.csv": "nofile.csv: No such file",
    "exchange hypercube:20": "mpinet route --pairs random:N",
    "measure ring:4 eccentricity node=x": "'x' is not an address in ring:4",
    "measure ring:4 eccentricity node=9": "nodes are 0..3",
    "measure ring:4 diameter dead=x": "dead is numbers joined by commas, such as 1,2, not 'x'",
    "measure ring:4 diameter cut=0": "cut is pairs joined by commas, such as 0-1,2-3, not '0'",
    "measure ring:4 loads seed=-1": "seed is a whole number >= 0, not '-1'",
    "measure ring:4 hamiltonian_cycle seconds=x": "seconds is a number, not 'x'",
    "measure ring:4 is_automorphism image=x": "image is numbers joined by commas",
    "measure ring:4 multicast_bound root=0 targets=9": "nodes are 0..3",
    "measure ring:4 walk source=0 target=2 routing=7": "no routing '7'",
}
"""Words that the sentence of each wrong command line has."""


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_word_is_answered_by_the_right_one(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.py").touch()
    assert CommandSession(line.split()).run() == 2
    said = capsys.readouterr().err
    assert WRONG[line] in said
    assert said.startswith("mpinet: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("command", ["route", "load"])
def test_pairs_and_pattern_are_names_of_one_option(command):
    own = "pairs" if command == "route" else "pattern"
    for word in ("--pairs", "--pattern"):
        assert getattr(parse([command, "ring:6", word, "tornado"]), own) == "tornado"


def test_python_takes_both_names_of_the_option():
    moved = mpinet.route("ring:6", pattern="tornado")
    assert (moved.messages, moved.hops_total) == (6, 12)  # each goes two hops
    assert mpinet.route("ring:6", pairs="tornado").digest == moved.digest
    with pytest.raises(UsageError, match="twice, under two names"):
        mpinet.route("ring:6", pairs="tornado", pattern="tornado")


def test_all_and_alltoall_are_one_pattern():
    assert mpinet.route("ring:5", pairs="alltoall").messages == 20
    one, other = (mpinet.load("ring:5", pattern=name, rate=0.1) for name in ("all", "alltoall"))
    assert one.digest == other.digest
