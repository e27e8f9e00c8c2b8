"""A recording of a run in time has what the reference does, and is shown as others are."""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from mpi.machine.ranks import transport
from mpi.machine.timed_reference import RECV, Flat, Machine, Routed, read_goal
from mpi.machine.timedruns import random_case

import mpinet
from mpinet.commands.replay import replay
from mpinet.report.recordings import MOST_SLOTS, in_steps, read_recording

NUMBERS = (2, 4, 5) if transport().size == 1 else (4,)


class Noting(Machine):
    """The reference; it notes crossings of links, and what CPUs begin."""

    def cross(self, ready, message, i):
        super().cross(ready, message, i)
        (node, port), hop, _ = message.path[i]
        self.crossings.append((message.entered + hop, node, port, message.entered))

    def step(self, time, key, p, thing):
        super().step(time, key, p, thing)
        if name := self.kind_on_cpu(p, thing):
            cpu = thing.cpu if name == RECV else self.programs[p][thing].cpu
            called = f"{name} cpu {cpu}" if cpu else name
            self.calls.append((self.cpu_free[p][cpu], p, time, called))


@cache
def noted(number):
    """The reference's run of a random program, and its setting."""
    text, setting = random_case(number)
    on = setting["on"] and mpinet.open(setting["on"])
    network = Routed(on, setting["hop"], setting["byte"]) if on else Flat(setting["flat"])
    costs = {name: setting[name] for name in "ogGOS"}
    machine = Noting(read_goal(text), network, setting["mode"], **costs)
    machine.crossings, machine.calls = [], []
    machine.run()
    return text, setting, machine


def recorded(text, setting, folder, name="run.npz"):
    """The recording that the command writes, read by rank 0."""
    ranks = transport()
    paths = ranks.gather(str(folder).encode())
    folder = ranks.share(paths[0] if ranks.rank == 0 else b"").decode()
    goal, file = f"{folder}/program.goal", f"{folder}/{name}"
    if ranks.rank == 0:
        with open(goal, "w") as out:
            out.write(text)
    ranks.sum(np.zeros(1, np.int64))
    listed = {name: ",".join(map(str, setting[name])) for name in ("hop", "byte")}
    where = {"on": setting["on"]} if setting["on"] else {"flat": setting["flat"]}
    replay(
        goal, **where, mode=setting["mode"], latency=listed["hop"], time_byte=listed["byte"],
        overhead=setting["o"], gap=setting["g"], gap_byte=setting["G"],
        overhead_byte=setting["O"], eager=setting["S"], record=file,
    )  # fmt: skip
    return file


@pytest.mark.parametrize("number", NUMBERS)
def test_links_and_cpus_are_busy_when_the_reference_says(number, tmp_path):
    text, setting, machine = noted(number)
    file = recorded(text, setting, tmp_path)
    if transport().rank:
        return
    found = read_recording(Path(file))
    if setting["on"]:
        moves = zip(
            *(found.moves[name].tolist() for name in ("step", "sender", "port", "free")),
            strict=False,
        )
        assert sorted(moves) == sorted(machine.crossings)
    columns = ("call_end", "call_processor", "call_begin", "call_site")
    calls = [
        (end, processor, begin, found.header["sites"][site][0])
        for end, processor, begin, site in zip(
            *(found.calls[name].tolist() for name in columns), strict=False
        )
    ]
    assert sorted(c for c in calls if not c[3].startswith("NIC")) == sorted(machine.calls)


def test_tracks_of_a_trace_hold_one_thing_at_a_time(tmp_path):
    text, setting, _ = noted(NUMBERS[0])
    file = recorded(text, setting, tmp_path)
    if transport().rank:
        return
    mpinet.trace(file, output=tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            span = (event["ts"], round(event["ts"] + event["dur"], 6))
            tracks.setdefault((event["pid"], event["tid"]), []).append(span)
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert set(tracks) <= named
    for spans in tracks.values():
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))


def test_a_long_run_is_shown_in_a_thousand_steps_at_most(tmp_path):
    text, setting, _ = noted(NUMBERS[0])
    slow = setting | {"o": 10**6, "on": setting["on"] or "ring:9"}
    file = recorded(text, slow, tmp_path)
    if transport().rank:
        return
    whole = read_recording(Path(file))
    shown = in_steps(whole)
    assert whole.header["steps"] > 10**6 and 1 < shown.header["steps"] <= MOST_SLOTS
    assert len(shown.moves["step"]) == len(whole.moves["step"])
    assert (np.diff(shown.moves["step"]) >= 0).all()
    assert 1 <= shown.moves["step"].min() <= shown.moves["step"].max() <= shown.header["steps"]
