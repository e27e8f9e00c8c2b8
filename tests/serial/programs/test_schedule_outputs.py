"""Outputs of GPU programs: `schedule` agrees with a second judge on programs with one mistake."""

import json
import os
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
from serial.programs.bufferjudge import judged_plan, judged_xml
from serial.programs.gpuprograms import (
    MSCCL,
    PLANS,
    block,
    changed,
    changed_plan,
    copies,
    program,
    step,
    written,
    xml,
)

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError

PROGRAMS = MSCCL | PLANS
CHANGES = 30
VENDORS = os.environ.get("MPINET_MSCCL")
"""A folder of MSCCL-XML of others; the test of it is there where the folder is given."""


def second_verdict(text, ending):
    """The second judge's verdict, which two random orders of thread blocks share."""
    judge = judged_xml if ending == ".xml" else judged_plan
    found = {judge(text, seed) for seed in range(2)}
    assert len(found) == 1
    return found.pop()


def first_verdict(file, gpus):
    """Whether `schedule run` finds the result right; None: it refuses the file."""
    try:
        found = mpinet.schedule.run(file, f"complete:{gpus}", ports="all")
    except UsageError:
        return None
    assert found.correct == (not hasattr(found, "output") and found.races == "none")
    return found.correct


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_textbooks_is_right_and_its_mistakes_are_found(name, tmp_path):
    made, draw, met = PROGRAMS[name], random.Random(name), set()
    change = changed if name in MSCCL else changed_plan
    for one in [made, *(change(made, draw) for _ in range(CHANGES))]:
        text, ending = written(one)
        file = tmp_path / f"program{ending}"
        file.write_text(text)
        second = second_verdict(text, ending)
        first = first_verdict(file, len(made["gpus"]))
        assert one is not made or second == "right"
        assert (first is True) == (second == "right"), (second, text)
        assert second != "wrong" or first is False, text
        met.add(first)
    assert met > {True}


def bad_allgather():
    """Three GPUs send to one another, and GPU 0 mixes up the places of what it receives."""
    made = json.loads(json.dumps(MSCCL["direct allgather"]))
    first, second = (each["steps"][1] for each in made["gpus"][0][1:3])
    first["dstoff"], second["dstoff"] = second["dstoff"], first["dstoff"]
    return made


def uncopied():
    """An allgather of two buffers in which no GPU copies its own chunk."""
    made = json.loads(json.dumps(MSCCL["ring allgather, two buffers"]))
    made["gpus"] = [own[:1] for own in made["gpus"]]
    return made


def one_way(coll, in_place, *gpus):
    """A program of two GPUs for one way of use."""
    ways = ("inplace",) if in_place else ("outofplace",)
    return program(coll, 2 if coll != "allreduce" else 1, gpus, (2, 2, 2), ways)


def left_in_scratch():
    own = [
        [block(1 - g, 1 - g, step("s", ("o", g), ("o", g)), step("r", ("o", 0), ("s", 0)))]
        for g in range(2)
    ]
    return one_way("allgather", True, *own)


def counted_twice():
    own = []
    for g in range(2):
        meet = block(1 - g, 1 - g, step("s", ("i", 0), ("s", 0)), step("r", ("i", 0), ("s", 0)))
        adds = [step("re", ("s", 0), ("i", 0), 1, (0, 1)), step("re", ("s", 0), ("i", 0))]
        own.append([meet, block(-1, -1, *adds)])
    return one_way("allreduce", True, *own)


def racing():
    """The outputs are right if every copy is done before its place is sent."""
    own = []
    for g in range(2):
        meet = [step("s", ("o", g), ("o", g)), step("r", ("i", 0), ("o", 1 - g))]
        own.append([block(1 - g, 1 - g, *meet), copies(("o", g), ("o", g))])
    return one_way("allgather", True, *own)


WRONG = [
    (bad_allgather(), "o[2] of GPU 0 holds chunk 4, not chunk 2", "none"),
    (uncopied(), "o[0] of GPU 0 holds no data, not chunk 0", "none"),
    (left_in_scratch(), "o[1] of GPU 0 holds no data, not chunk 1", "none"),
    (counted_twice(), "adds a contribution to chunk 0 twice), not chunk 0", "none"),
    (racing(), "right", "both use o[0] of GPU 0"),
]


@pytest.mark.parametrize(("made", "output", "races"), WRONG)
def test_wrong_data_and_races_are_not_right_with_status_1(made, output, races, tmp_path, capsys):
    file = tmp_path / "program.xml"
    file.write_text(xml(made))
    line = ["schedule", "check", str(file), "--on", f"complete:{len(made['gpus'])}"]
    assert CommandSession([*line, "--ports", "all"]).run() == 1
    assert "result  not right\n" in capsys.readouterr().out
    assert CommandSession([*line, "--ports", "all", "--json"]).run() == 1
    found = json.loads(capsys.readouterr().out)["result"]
    assert found["correct"] is False
    assert output in found.get("output", "right") and races in found["races"]


@pytest.mark.parametrize(("name", "way"), [("ring allgather", "outofplace"),
                                           ("forwarded alltoall", "inplace")])  # fmt: skip
def test_a_program_of_one_way_is_not_right_for_both(name, way, tmp_path):
    made = json.loads(json.dumps(MSCCL[name]))
    made["header"][way] = 1
    file = tmp_path / "program.xml"
    file.write_text(xml(made))
    assert judged_xml(file.read_text()) != "right"
    assert first_verdict(file, len(made["gpus"])) is not True


REFUSED = [
    ("ring allgather", {"dstoff": 7}, "uses o[7], and buffer o of GPU 0 has 4 chunks"),
    ("ring allgather", {"cnt": 0}, "unknown step of type 'rcs' and count 0"),
    ("ring allgather", {"dstbuf": "t"}, "dstbuf is i, o, s, not 't'"),
    ("ring allgather", {"s": 0}, "step 0 of thread block 0 of GPU 0 appears twice"),
    ("ring allreduce", {"depid": 9, "deps": 0}, "which is not there"),
]


@pytest.mark.parametrize(("name", "change", "sentence"), REFUSED)
def test_a_step_that_no_executor_takes_is_refused(name, change, sentence, tmp_path, capsys):
    made = json.loads(json.dumps(MSCCL[name]))
    made["gpus"][0][0]["steps"][1] |= change
    file = tmp_path / "program.xml"
    file.write_text(xml(made))
    assert CommandSession(["schedule", "run", str(file), "--on", "complete:4"]).run() == 2
    assert sentence in capsys.readouterr().err


def test_two_thread_blocks_of_one_connection_are_refused(tmp_path, capsys):
    made = json.loads(json.dumps(MSCCL["direct allreduce"]))
    made["gpus"][0][1]["send"] = made["gpus"][0][0]["send"]
    file = tmp_path / "program.xml"
    file.write_text(xml(made))
    assert CommandSession(["schedule", "run", str(file), "--on", "complete:3"]).run() == 2
    said = "thread blocks 0 and 1 both send on channel 0 from GPU 0 to GPU 1"
    assert said in capsys.readouterr().err


def test_a_copy_onto_its_own_chunks_races(tmp_path):
    made = json.loads(json.dumps(MSCCL["chain broadcast"]))
    for own in made["gpus"]:
        own.append(copies(("s", 0), ("s", 1), 2, (0, 2)))
        own[0]["steps"].append(step("cpy", ("o", 0), ("s", 0), 3))
        own[1]["steps"][0]["deps"] = 3
    made["sizes"] = (3, 3, 3)
    file = tmp_path / "program.xml"
    file.write_text(xml(made))
    found = mpinet.schedule.run(file, "complete:4", ports="all")
    assert (hasattr(found, "output"), found.correct) == (False, False)
    assert "reads 2 chunks from s[0] on, and writes them from s[1] on" in found.races


def test_a_barrier_that_one_thread_block_does_not_reach_again_waits_for_ever(tmp_path, capsys):
    made = json.loads(json.dumps(PLANS["get allreduce"]))
    ops = made["gpus"][1]["threadblocks"][0]["ops"]
    ops.append(ops[0])
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(made))
    line = ["schedule", "run", str(file), "--on", "complete:3", "--ports", "all"]
    assert (judged_plan(file.read_text()), CommandSession(line).run()) == ("rejected", 2)
    assert "1 of 3 thread blocks come to barrier 0 for the 2th time" in capsys.readouterr().err


def swapped(text, draw):
    """The text of MSCCL-XML with the target places of two steps of a GPU exchanged."""
    algorithm = ElementTree.fromstring(text)
    steps = [each for each in draw.choice(list(algorithm)).iter("step") if each.get("cnt") != "0"]
    one, other = draw.sample(steps, 2)
    for key in ("dstbuf", "dstoff"):
        value = one.get(key)
        one.set(key, other.get(key))
        other.set(key, value)
    return ElementTree.tostring(algorithm, encoding="unicode")


if VENDORS:

    @pytest.mark.long
    @pytest.mark.parametrize(
        "file", sorted(Path(VENDORS).rglob("*.xml")), ids=lambda each: each.name
    )
    def test_files_of_vendors_are_right_and_exchanged_places_are_found(file, tmp_path):
        text, draw = file.read_text(), random.Random(file.name)
        gpus = int(ElementTree.fromstring(text).get("ngpus"))
        assert judged_xml(text) == "right"
        assert first_verdict(file, gpus) is True
        for _ in range(3):
            other = tmp_path / "changed.xml"
            other.write_text(swapped(text, draw))
            second = judged_xml(other.read_text())
            assert (first_verdict(other, gpus) is True) == (second == "right"), second
