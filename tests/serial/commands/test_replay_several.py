"""Several settings of a replay are replays of their own, in one table and one picture."""

import itertools
import re
from dataclasses import replace

import pytest

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import UsageError
from mpinet.jobs.replay import prepare
from mpinet.machine.timed.program import Builder

PROGRAM = "allreduce:ring,900,processors=9"

COSTS = {"latency": "30", "unit": "ps", "overhead": 5}

VALUES = {"place": ["identity", "random", "cycle"], "on": ["torus:3x3", "ring:9"], "seed": [1, 4]}

WORDS = [f"{name}={value}" for name, values in VALUES.items() for value in values]


def test_each_setting_takes_the_time_of_its_own_replay_and_the_best_is_the_result(tmp_path):
    picture = tmp_path / "times.svg"
    found = mpinet.replay(PROGRAM, vary=[*WORDS, "time_byte=2"], plot=picture, **COSTS)
    own, best = [], None
    for place, on, seed in itertools.product(*VALUES.values()):
        one = mpinet.replay(PROGRAM, on=on, place=place, seed=seed, time_byte="2", **COSTS)
        own.append([place, on, str(seed), one.time, one.waits, one.busiest])
        best = one if best is None or one.time < best.time else best
    rows = [
        [*list(row.options.values())[:3], row.time, row.waits, row.busiest]
        for row in found.settings
    ]
    assert rows == own
    assert (found.time, found.ends) == (best.time, best.ends)
    assert [row.best for row in found.settings].index(True) == [row[3] for row in rows].index(
        best.time
    )
    drawn = set(re.findall("<!-- (.*?) -->", picture.read_text()))
    assert drawn >= {*VALUES["place"], "ring:9, 4, 2", "time", PROGRAM}
    assert any(re.fullmatch("[0-9.]+ (ns|us)", text) for text in drawn)
    assert len(mpinet.plot(found, x="place", y="time", by="on,seed").curves) == 4


def test_a_picture_names_the_program_and_the_network_of_all_settings(tmp_path):
    picture = tmp_path / "times.svg"
    words = ["place=identity", "place=random"]
    mpinet.replay(PROGRAM, on="ring:9", vary=words, time_byte="2", plot=picture, **COSTS)
    assert f"<!-- {PROGRAM} on ring:9 -->" in picture.read_text()


def test_a_setting_in_which_operations_never_end_is_never_the_best():
    # Both send first: only eager messages let them go on.
    program = Builder(2)
    for one in range(2):
        sent = program.send(one, 1 - one, 64)
        program.recv(one, 1 - one, 64, after=[sent])
    options = parse(
        ["replay", "x", "--flat", "9", "--gap-byte", "0", "--vary", "eager=8", "--vary", "eager=64"]
    )
    job = prepare(replace(options, program=program.done()))
    found = job.run(mpinet.machine.transport.world(), lambda *done: None)
    assert [row["stuck"] > 0 for row in found["settings"]] == [True, False]
    assert [row["best"] for row in found["settings"]] == [False, True]
    assert job.status(found) == 1
    assert job.shortfall(found) == "In 1 of 2 settings operations never end."


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"vary": "places=random"}, "OPTION=VALUE, not 'places=random'; options: on, flat"),
        ({"vary": "on"}, "OPTION=VALUE, not 'on'"),
        ({"vary": "on=ring:9", "on": "ring:9"}, "--on is both given and varied"),
        ({"vary": ["on=ring:9", "place=rnd"]}, "on=ring:9 place=rnd: .*rnd"),
        ({"vary": ["on=ring:9", "mode=fast"]}, "replay: mode is .*, not 'fast'"),
        ({"vary": ["on=ring:9", "eager=few"]}, "replay: eager is .*, not 'few'"),
        ({"vary": "on=ring:9", "record": "x.npz"}, "--record applies to a single run"),
        ({"on": "ring:9", "plot": "x.svg"}, "--plot needs settings"),
        ({"vary": "on=ring:9", "plot": "x.gif"}, "plot"),
    ],
)
def test_what_is_no_setting_is_refused_with_a_sentence(given, sentence):
    with pytest.raises(UsageError, match=sentence):
        mpinet.replay(PROGRAM, **given)
