"""Schedules that nothing dominates: SCCL's published tables, proved, played and checked again."""

import csv
import json
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import inf

import pytest
from serial.programs.bruteforce import SMALL, directed, fewest
from serial.programs.test_capacities import dgx1

import mpinet
from mpinet.certify.certificate import certify
from mpinet.cli.session import CommandSession
from mpinet.commands.signature import given
from mpinet.errors import CertificateError, OutOfReach
from mpinet.jobs import pareto
from mpinet.machine.transport import Local
from mpinet.measure.optimum.roundsearch import RoundsFormula, WantedChunks, schedule_of
from mpinet.networks.graph import from_networkx

Z52 = "ring:8"
"""Cai et al. model the eight GPUs of AMD's Z52 as a ring."""

TABLE = [
    ("dgx1", "gossip", {"chunks": 6, "slack": 0}, [(k, k + 1, k + 1) for k in range(1, 7)]),
    ("dgx1", "gossip", {"chunks": 6}, [(2, 2, 3), (6, 3, 7)]),
    ("dgx1", "reducescatter", {"chunks": 6}, [(2, 2, 3), (6, 3, 7)]),
    ("dgx1", "allreduce", {"chunks": 6}, [(16, 4, 6), (48, 6, 14)]),
    ("dgx1", "broadcast", {"chunks": 6, "steps": 3, "slack": 0}, [(2, 2, 2), (6, 3, 3)]),
    ("dgx1", "exchange", {"chunks": 3, "steps": 2}, [(3, 2, 8)]),
    (Z52, "gossip", {"chunks": 2, "slack": 0}, [(1, 4, 4), (2, 7, 7)]),
    (Z52, "allgather", {"chunks": 2}, [(2, 4, 7)]),
    (Z52, "exchange", {"chunks": 1, "steps": 4}, [(1, 4, 8)]),
]
"""Chunks, steps and rounds as the paper's tables have them; of an exchange chunks for each pair."""

BACKWARDS = {"reducescatter": "gossip", "allreduce": None}


def searched(found):
    return [row for row in found if row.algorithm == "search"]


def require_synchronous(rows, row, graph, held, wanted):
    """Who sends has had it since before the step, and no link carries more than its rounds."""
    ends = [*accumulate(row.dealt)]
    assert (len(ends), ends[-1]) == (row.steps, row.rounds)
    begins = [end - often + 1 for end, often in zip(ends, row.dealt, strict=True)]
    step_of = {
        when: step for step, begin in enumerate(begins) for when in range(begin, ends[step] + 1)
    }
    over = Counter()
    came = {(node, chunk): -1 for node, chunks in held.items() for chunk in chunks}
    for when, sender, to, chunk in sorted(rows):
        assert came.get((sender, chunk), row.steps) < step_of[when]
        over[step_of[when], sender, to] += 1
        came.setdefault((to, chunk), step_of[when])
    for (step, *ends), number in over.items():
        assert number <= row.dealt[step] * graph.edges[ends].get("capacity", 1)
    assert wanted <= {*came}


@pytest.mark.parametrize(("network", "collective", "options", "expected"), TABLE)
def test_the_published_tables_of_sccl_come_out(tmp_path, network, collective, options, expected):
    ring = network, mpinet.open(Z52).to_networkx()
    name, graph = dgx1(tmp_path) if network == "dgx1" else ring
    found = searched(mpinet.pareto(collective, name, save=tmp_path / "saved", limit=600, **options))
    assert [(row.chunks, row.steps, row.rounds) for row in found] == expected
    assert all(row.proved for row in found[collective == "allreduce" :])
    if collective not in ("gossip", "allgather"):
        return
    for row in found:
        file = tmp_path / "saved" / f"{row.chunks}-{row.steps}-{row.rounds}"
        lines = csv.DictReader(line for line in file.with_suffix(".csv").open() if line[0] != "#")
        rows = [tuple(int(line[key]) for key in ("step", "from", "to", "chunk")) for line in lines]
        held = {node: range(node * row.chunks, (node + 1) * row.chunks) for node in graph}
        everything = {(node, chunk) for node in graph for chunk in range(8 * row.chunks)}
        require_synchronous(rows, row, graph, held, everything)
        verified = certify(file.with_suffix(".cert"))
        assert (verified.claim.more_than, verified.claim.steps) == (row.rounds - 1, row.steps)


def test_the_search_shows_what_it_is_at():
    shown = []
    options = given(mpinet.pareto, {"collective": "exchange", "topology": "ring:4", "chunks": 2})
    rows = pareto.prepare(options).run(Local(), lambda *state: shown.append(state))
    found = next(row for row in rows if row["algorithm"] == "search")
    tried = [state[3] for state in shown if len(state) > 3]
    assert tried[0] == f"bound of {found['steps']} steps"
    assert (
        f"{found['chunks']} chunks in {found['steps']} steps of {found['rounds']} rounds" in tried
    )


def test_the_limit_holds_for_formulas_too(capsys):
    # All processors are neighbours: six messages over six channels take a step.
    network, wanted = mpinet.open("complete:3"), WantedChunks.of(3, "exchange", None, 1)
    assert not RoundsFormula(network, wanted, (1,), 0).is_whole
    assert RoundsFormula(network, wanted, (1,), inf).is_whole
    assert schedule_of(network, wanted, 1, 1, 0) is None
    rows, dealt = schedule_of(network, wanted, 1, 1, 60)
    assert dealt == (1,) and len(rows) == 6
    assert CommandSession("pareto exchange ring:5 --limit 0".split()).run() == 0
    assert "No schedule in the given time" in capsys.readouterr().err


@pytest.mark.costly
@pytest.mark.parametrize("number", range(len(SMALL)))
def test_with_a_round_a_step_the_first_row_takes_as_few_steps_as_brute_force(number):
    network = from_networkx(SMALL[number])
    first = searched(mpinet.pareto("gossip", network, chunks=1, slack=0, steps=6))[0]
    assert (
        first.steps == first.rounds == fewest(directed(network), range(len(SMALL[number])), False)
    )


def test_a_certificate_that_claims_or_shows_another_thing_is_refused(tmp_path):
    mpinet.pareto("gossip", "petersen", chunks=3, save=tmp_path / "saved")
    file = next((tmp_path / "saved").glob("*.cert"))
    whole = json.loads(file.read_text())
    claim, lengths = whole["claim"], whole["lengths"]
    changed = tmp_path / "changed.cert"

    def refused(because, **parts):
        changed.write_text(json.dumps(whole | parts))
        with pytest.raises(CertificateError, match=because):
            certify(changed)

    refused("no more than", claim=claim | {"more_than": claim["more_than"] + 1})
    refused("takes more steps than 1", claim=claim | {"steps": 1})
    refused("if and only if", claim={key: claim[key] for key in claim if key != "steps"})
    refused("all-port model", claim=claim | {"ports": "one"})
    refused("lengths are 0", lengths=[[] for _ in lengths])
    refused("each of 90 pairs", lengths=lengths[1:])
    first = next(number for number, each in enumerate(lengths) if each)
    step, tail, head, length = lengths[first][0]
    for wrong, because in (
        ([step, tail, head, -length], "below 0"),
        ([step, tail, tail, length], "no such link"),
        ([step + 9, tail, head, length], "no such step"),
        ([step, tail, head, 0.5], "a whole number"),
    ):
        each = [wrong, *lengths[first][1:]]
        refused(because, lengths=[*lengths[:first], each, *lengths[first + 1 :]])
    # What one pair pays more for, its links have to cost.
    dearer = [[*row[:3], 9 * row[3]] for row in lengths[first]]
    refused("no more than", lengths=[*lengths[:first], dearer, *lengths[first + 1 :]])
    changed.write_text(json.dumps(whole | {"claim": claim | {"steps": 2**40}}))
    with pytest.raises(OutOfReach):
        certify(changed)


def test_times_are_those_of_steps_and_rounds_and_textbooks_stand_beside(tmp_path):
    name, _ = dgx1(tmp_path)
    found = mpinet.pareto(
        "allgather", name, chunks=6, alpha="700ns", beta="25GB/s", bytes="48kB,480MB"
    )
    for row in searched(found):
        for size in (48_000, 480_000_000):
            exact = row.steps * 700_000 + Fraction(row.rounds, row.chunks) * size // 8 * 40
            # Links that are free sooner are used sooner, so that a little may be saved.
            assert exact - 700_000 <= row.times[str(size)] <= exact
    by = {row.algorithm: row for row in found}
    assert (by["recursive-doubling"].steps, by["recursive-doubling"].rounds) == (3, 7)
    assert (by["ring"].steps, by["ring"].rounds) == (14, 14)  # 1-2 and 3-4 and so on: two hops
    assert [row.algorithm for row in found if 480_000_000 in row.best] == ["search"]
    on_its_ring = {row.algorithm: row for row in mpinet.pareto("gossip", Z52, chunks=2)}["ring"]
    assert (on_its_ring.steps, on_its_ring.rounds, on_its_ring.rounds_ratio) == (7, 7, 2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("gossip ring:8 --root 3", "--root does not apply: gossip has no root"),
        ("gossip lens:2,3,2", "pareto needs two processors or more with links"),
        ("reduce fattree:2,2", "without switches"),
        ("gossip ring:8 --chunks 0", "--chunks is a whole number 1..1024, not 0"),
        ("gossip ring:8 --slack -1", "--slack is a whole number 0..1024, not -1"),
        ("gossip hypercube:12", "at most 64 processors"),
        ("broadcast hypercube:12", "processors are too many"),
        ("gossip ring:8 --alpha 1us", "need both"),
        ("gossip ring:8 --plot p.svg", "--plot needs times"),
        ("gossip ring:8 --limit -1", "a number of seconds"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_a_sentence(capsys, words, sentence):
    assert CommandSession(["pareto", *words.split()]).run() == 2
    assert sentence in capsys.readouterr().err
