"""The textbooks' collectives bring every block where it belongs, in the time of their formulas."""

from collections import Counter, defaultdict, deque
from random import Random

import numpy as np
import pytest
from mpi.machine.ranks import transport
from mpi.machine.timed_reference import Flat, play
from mpi.machine.timedruns import played

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.timed.layout import RECV, SEND
from mpinet.programs.kinds import ROOTED
from mpinet.programs.messages.named import made, program_named
from mpinet.programs.messages.textbook import ALGORITHMS
from mpinet.programs.messages.writing import write_goal

CASES = [(collective, name) for collective, known in ALGORITHMS.items() for name in known]
POWERS = {"recursive-halving", "bine"} | {"recursive-doubling"}


def wanted(collective, processors, blocks, root):
    """Contributions that each processor begins with and ends with, by block."""
    everybody = Counter(range(processors))
    own = blocks // processors if collective == "alltoall" else 1
    begin = [defaultdict(Counter) for _ in range(processors)]
    end = [{} for _ in range(processors)]
    for node in range(processors):
        for block in range(blocks):
            if collective == "broadcast":
                if node == root:
                    begin[node][block] = Counter([root])
                end[node][block] = Counter([root])
            elif collective in ("reduce", "allreduce", "reduce-scatter"):
                begin[node][block] = Counter([node])
                if (
                    collective == "allreduce"
                    or (collective == "reduce" and node == root)
                    or (collective == "reduce-scatter" and node == block)
                ):
                    end[node][block] = everybody
            elif collective == "allgather":
                if node == block:
                    begin[node][block] = Counter([node])
                end[node][block] = Counter([block])
            else:
                if block // own == node:
                    begin[node][block] = Counter([node])
                if block % own == node:
                    end[node][block] = Counter([block // own])
    return begin, end


def carried_out(what, pattern, segment, begin, draw):
    """What each processor holds of a segment after its operations, carried out in a random order.

    A send takes what its processor held when the round began, as it does where what comes has a
    buffer of its own; messages of one sender, receiver and tag meet receives in the order of both.
    """
    program, first = what.program, what.program.first
    holds = [defaultdict(Counter, {block: +held for block, held in mine.items()}) for mine in begin]
    done = np.zeros(program.operations, bool)
    way, posted = defaultdict(deque), defaultdict(deque)
    waiting = {
        row: node
        for node in range(program.processors)
        for row in range(first[node], first[node + 1])
        if what.segments[row] == segment
    }
    began, held_at = set(), {}

    def meet(key):
        while way[key] and posted[key]:
            row, (transfer, content) = posted[key].popleft(), way[key].popleft()
            for block, held in content:
                if transfer.add:
                    holds[key[1]][block] = holds[key[1]][block] + held
                else:
                    holds[key[1]][block] = held
            done[row] = True
            del waiting[row]

    while waiting:
        ready = [
            (row, node)
            for row, node in waiting.items()
            if row not in began
            and all(
                done[first[node] + (need >> 1)]
                for need in program.needs[program.needs_first[row] : program.needs_first[row + 1]]
            )
        ]
        assert ready, "nothing can go on"
        row, node = draw.choice(ready)
        began.add(row)
        each = pattern.streams[what.streams[row]][what.rounds[row]]
        round_ = (node, what.streams[row], what.rounds[row])
        if round_ not in held_at:
            held_at[round_] = {block: Counter(held) for block, held in holds[node].items()}
        peer, tag = int(program.peer[row]), int(program.tag[row])
        if program.kind[row] == SEND:
            mine = np.flatnonzero(each.owners == what.transfers[row])
            blocks = [
                (int(start) + k) % pattern.blocks
                for start, count in zip(each.first[mine], each.width[mine], strict=True)
                for k in range(count)
            ]
            content = [(block, held_at[round_].get(block, Counter())) for block in blocks]
            way[node, peer, tag].append((each, content))
            done[row] = True
            del waiting[row]
            meet((node, peer, tag))
        else:
            assert program.kind[row] == RECV
            posted[peer, node, tag].append(row)
            meet((peer, node, tag))
    return holds


@pytest.mark.parametrize(("collective", "name"), CASES)
def test_every_block_is_where_it_belongs_with_everybodys_share(collective, name):
    counts = (1, 2, 4, 8) if name in POWERS and collective != "allreduce" else (1, 2, 3, 5, 7, 8)
    for processors in counts:
        root = processors // 2 if collective in ROOTED else 0
        size = 12 * processors
        segment = size // 2 if processors in (4, 5) else None
        what = made(collective, name, size, processors, segment, root)
        pattern = ALGORITHMS[collective][name].make(processors).rooted(root)
        begin, end = wanted(collective, processors, pattern.blocks, root)
        for piece in sorted(set(what.segments.tolist())):
            holds = carried_out(what, pattern, piece, begin, Random(processors))
            for node in range(processors):
                assert {block: holds[node][block] for block in end[node]} == end[node]


ALPHA, BETA = 1000, 3
"""Latency and time of a byte; a message of n bytes takes ALPHA + (n - 1) BETA."""


def rounds(*sizes):
    return sum(ALPHA + (size - 1) * BETA for size in sizes)


HALVES = [1024 >> k for k in range(1, 5)]

FORMULAS = {
    "broadcast:binomial,1024": rounds(*[1024] * 4),
    "broadcast:bine,1024": rounds(*[1024] * 4),
    "broadcast:chain,1024": rounds(*[1024] * 15),
    "broadcast:linear,1024": rounds(1024) + 14 * 1023 * BETA,
    "reduce:binomial,1024": rounds(*[1024] * 4),
    "allreduce:recursive-doubling,1024": rounds(*[1024] * 4),
    "allreduce:bine-doubling,1024": rounds(*[1024] * 4),
    "allreduce:ring,1024": rounds(*[64] * 30),
    "allreduce:rabenseifner,1024": rounds(*HALVES, *HALVES),
    "allreduce:bine,1024": rounds(*HALVES, *HALVES),
    "allreduce:binomial,1024": rounds(*[1024] * 8),
    "allgather:ring,1024": rounds(*[64] * 15),
    "allgather:recursive-doubling,1024": rounds(*HALVES),
    "allgather:bruck,1024": rounds(*HALVES),
    "reduce-scatter:ring,1024": rounds(*[64] * 15),
    "reduce-scatter:recursive-halving,1024": rounds(*HALVES),
    "reduce-scatter:pairwise,1024": rounds(*[64] * 15),
    "alltoall:pairwise,1024": rounds(*[64] * 15),
    "alltoall:bruck,1024": rounds(*[512] * 4),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_without_contention_the_time_is_that_of_the_formula(name):
    whole = f"{name.partition(',')[0]},1024,processors=16{name.partition(',1024')[2]}"
    assert mpinet.replay(whole, flat=ALPHA, gap_byte=BETA).time == FORMULAS[name]


def test_segments_follow_one_another_on_their_way():
    whole = mpinet.replay("broadcast:chain,1024,processors=16", flat=100, gap_byte=BETA).time
    halves = "broadcast:chain,1024,processors=16,segment=512"
    assert mpinet.replay(halves, flat=100, gap_byte=BETA).time < 0.75 * whole


@pytest.mark.parametrize("name", ["broadcast:double-tree,900,segment=100", "allreduce:ring,10"])
def test_what_is_written_is_what_is_played(name, tmp_path):
    program = program_named(f"{name},processors=6")
    file = tmp_path / f"{transport().rank}.goal"
    with file.open("wb") as opened:
        write_goal(program, opened)
    setting = {"on": None, "flat": 70, "mode": "cut", "hop": [1], "byte": [0]}
    costs = {"o": 4, "O": 1, "g": 3, "G": 2, "S": None}
    known = play(file.read_text(), Flat(70), "cut", **costs)
    assert {key: played(file.read_text(), **setting, **costs)[key] for key in known} == known
    direct = mpinet.replay(program, flat=70, overhead=4, overhead_byte=1, gap=3, gap_byte=2)
    assert (direct.time, direct.ends) == (known["time"], known["ends"])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("allreduce:rng,1MB,processors=4", "goes by recursive-doubling, .* did you mean ring"),
        ("allreduce:ring", "a program by name is COLLECTIVE:ALGORITHM"),
        ("allreduce:ring,1MB", "say for how many processors"),
        ("allreduce:ring,1MB,processors=0", "for 1..2\\^26 processors"),
        ("allreduce:ring,1MB,processors=4,root=1", "allreduce has no root"),
        ("broadcast:chain,1MB,processors=4,root=4", "one of processors 0..3, not 4"),
        ("broadcast:chain,1TB,processors=4,segment=1", "take longer segments"),
        ("broadcast:chain,1MB,processors=4,size=1", "does not belong to COLLECTIVE"),
        ("allgather:bine,1MB,processors=6", "a power of two of processors, not 6"),
    ],
)
def test_what_there_is_not_is_refused_in_a_sentence(name, sentence):
    with pytest.raises(UsageError, match=sentence):
        mpinet.replay(name, flat=1)
