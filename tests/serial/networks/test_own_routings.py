"""A routing of a user's own is tried out where it is used, and nowhere else."""

from pathlib import Path

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import RoutingError

FILE = """from mpinet import Topology, rule
from mpinet.networks.routing import stateless

@rule
def around(node, header, params):
    return -1 if node == header[0] else params[2]

class Own(Topology):
    def __init__(self, n: int, shortest: int = 1):
        super().__init__(f"{n}", size=n, ports=2, params=(0,))
        self.says = shortest > 0

    @rule
    def neighbor(node, port, params):
        return (node + 1 - 2 * port) % params[0]

    @property
    def routings(self):
        return {
            "around": lambda: stateless("around", around, self, shortest=self.says),
            "wrong": lambda: stateless("wrong", around, self, params=self.params[:2]),
        }
"""
SENTENCE = (
    "mpinet: Routing around on own.py:Own:9 takes 5 hops from 0 to 5, where 4 are enough. "
    "If longer paths are meant, make it with stateless(.., shortest=False) or "
    "Routing(.., shortest=False).\n"
)


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(FILE)

    def run(words):
        status = CommandSession(words.split()).run()
        return status, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "words",
    [
        "show own.py:Own:9 --distances", "broadcast own.py:Own:9", "flood own.py:Own:9",
        "draw own.py:Own:9 -o own.svg", "neighbors own.py:Own:9 0",
        "measure own.py:Own:9 diameter",
    ],
)  # fmt: skip
def test_commands_that_do_not_route_run_whatever_a_routing_does(words, said):
    assert said(words)[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        "route own.py:Own:9", "path own.py:Own:9 0 5", "check own.py:Own:9",
        "load own.py:Own:9 --rate 0.1 --steps 50", "exchange own.py:Own:9",
        "load own.py:Own:9 --routing valiant --rate 0.1 --steps 50",
        "replay allreduce:ring,1kB --on own.py:Own:9 --latency 1 --time-byte 1",
    ],
)  # fmt: skip
def test_commands_that_route_name_the_promise_and_the_remedy(words, said):
    assert said(words) == (1, SENTENCE)


def test_a_routing_that_promises_nothing_may_lead_around(said):
    status, text = said("route own.py:Own:9,0 --pairs all")
    assert (status, text) == (0, "")


def test_a_rule_that_reads_a_parameter_too_far_is_told_how_many_there_are(said):
    status, text = said("route own.py:Own:9,0 --routing wrong")
    assert status == 2 and text.count("\n") == 1
    assert "own.py:6: around(0, ..) raised IndexError" in text
    assert (
        "params has 2 numbers: size, ports and what Topology.__init__(.., params=(..)) gets" in text
    )


def test_python_refuses_a_routing_where_it_is_asked_for(said):
    network = mpinet.open("own.py:Own:9")
    for _ in range(2):
        with pytest.raises(RoutingError, match="takes 5 hops"):
            network.routing()
    assert mpinet.open("own.py:Own:9,0").routing().name == "around"
