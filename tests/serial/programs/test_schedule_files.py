"""Schedules from files: published ones take the steps that they should; bad files are refused."""

import io
import json
import pickle
import struct
import zipfile
from types import SimpleNamespace
from typing import get_args, get_type_hints
from xml.etree import ElementTree

import numpy as np
import pytest
from serial.programs import schedulefiles as made

from mpinet.base.files import read_bytes
from mpinet.cli.session import CommandSession
from mpinet.commands.schedule import ScheduleResult, export
from mpinet.commands.signature import options_of
from mpinet.programs.schedules.files.formats import FORMATS, WRITTEN

STAR = [(0, 1, [(root, other) for other in range(4) if other != root]) for root in range(1)]


def petersen_trees():
    """From every node its three neighbours, and from each of these the two others of its own."""
    ring = {u: [(u + 1) % 5, (u - 1) % 5, u + 5] for u in range(5)}
    inner = {u: [(u - 3) % 5 + 5, (u - 2) % 5 + 5, u - 5] for u in range(5, 10)}
    near = ring | inner
    return [
        (root, 1, [(root, v) for v in near[root]]
         + [(v, w) for v in near[root] for w in near[v] if w != root])
        for root in range(10)
    ]  # fmt: skip


def run(folder, capsys, name, content, words):
    """Run a file's schedule; status, document, and what was complained of."""
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    status = CommandSession(["schedule", "run", str(file), *words.split(), "--json"]).run()
    said = capsys.readouterr()
    document = json.loads(said.out)
    return SimpleNamespace(
        status=status,
        result=document.get("result"),
        error=document.get("error", said.err.removeprefix("mpinet: ").strip()),
    )


RING8 = made.csv_file(made.ring_rows(8), collective="gossip", processors=8)

PUBLISHED = [
    ("r.xml", made.ring_allgather(8), "--on ring:8", 7, 56),
    ("r.xml", made.recursive_doubling(3), "--on hypercube:3", 7, 56),
    ("r.xml", made.recursive_doubling(3), "--on hypercube:3 --ports all", 7, 56),
    ("r.xml", made.all_pairs(8), "--on complete:8 --ports all", 1, 56),
    ("r.xml", made.all_pairs(8), "--on complete:8", 7, 56),
    ("r.xml", made.ring_allreduce(8), "--on ring:8", 14, 112),
    ("b.goal", made.binomial_goal(5), "--on hypercube:5 --collective broadcast --root 0", 5, 31),
    ("r.csv", RING8, "--on ring:8", 7, 56),
    ("r.csv", made.csv_file(made.ring_rows(5)), "--on ring:5 --collective gossip", 4, 20),
    ("f.xml", made.forest(petersen_trees()), "--on petersen --ports all", 3, 90),
    ("f.xml", made.forest(STAR), "--on complete:4 --collective broadcast", 3, 3),
    ("f.xml", made.forest(STAR), "--on complete:4 --collective broadcast --rounds 4", 12, 12),
]


@pytest.mark.parametrize(("name", "content", "words", "steps", "messages"), PUBLISHED)
def test_a_published_schedule_takes_its_steps(
    name, content, words, steps, messages, tmp_path, capsys
):
    found = run(tmp_path, capsys, name, content, words)
    assert found.status == 0, found.error
    assert found.result["correct"] is True
    assert (found.result["steps"], found.result["messages"]) == (steps, messages)
    assert found.result["lower_bound"] <= steps


def test_goal_without_a_purpose_is_not_judged_by_its_data(tmp_path, capsys):
    found = run(tmp_path, capsys, "b.goal", made.binomial_goal(3), "--on hypercube:3")
    assert (found.status, found.result["correct"], found.result["steps"]) == (0, None, 3)


def test_long_messages_of_goal_take_a_step_for_each_part(tmp_path, capsys):
    text = (
        "num_ranks 2\nrank 0 {\na: send 20b to 1 tag 3\n}\nrank 1 {\nb: recv 20b from 0 tag 3\n}\n"
    )
    found = run(tmp_path, capsys, "b.goal", text, "--on complete:2 --bytes 8")
    assert found.result["steps"] == 3


def test_routed_rows_may_go_between_any_two(tmp_path, capsys):
    found = run(tmp_path, capsys, "r.csv", RING8, "--on hypercube:3 --route")
    assert found.result["correct"] is True
    assert found.result["steps"] > 7


EXPORTS = [
    "gossip petersen --algorithm rarest --ports all",
    "gossip torus:3x4",
    "exchange torus:3x3",
    "scatter ccc:3 --root 5",
    "gather mesh:3x4 --root 7",
    "reduce hypercube:4",
    "broadcast debruijn:4 --root 3",
    "broadcast hypercube:3 --items 10 --ports all",
    "gossip petersen --items 3",
    "reduce ring:6 --items 4 --root 2",
    "allreduce mesh:2x3 --items 6",
    "allreduce ring:4",
]


@pytest.mark.costly
@pytest.mark.parametrize("ending", ["csv", "npz", "xml", "goal"])
@pytest.mark.parametrize("words", EXPORTS)
def test_what_is_exported_takes_the_same_steps_when_it_is_read(words, ending, tmp_path, capsys):
    file = tmp_path / f"s.{ending}"
    CommandSession(["schedule", "export", *words.split(), "--out", str(file), "--json"]).run()
    wrote = json.loads(capsys.readouterr().out)["result"]
    ports = "--ports all" if "all" in words else ""
    network = words.split()[1]
    line = f"schedule run {file} --on {network} {ports} --json"
    assert CommandSession(line.split()).run() == 0
    read = json.loads(capsys.readouterr().out)["result"]
    assert (read["steps"], read["messages"]) == (wrote["steps"], wrote["messages"])
    assert read["correct"] is (None if ending == "goal" else True)


def run_side_by_side(document, random):
    """The buffers after an MSCCL-XML: blocks run side by side, in any order that they allow."""
    gpus = int(document.get("ngpus"))
    in_place, exchange = document.get("inplace") == "1", document.get("coll") == "alltoall"
    held = {}

    def place(gpu, buffer, at):
        return gpu, "i" if in_place and buffer == "o" else buffer, at

    for gpu in range(gpus):
        for at in range(gpus if exchange else int(document.get("nchunksperloop"))):
            held[place(gpu, "i", at)] = frozenset({(gpu, at)})
    blocks = [(gpu, block, list(block)) for gpu in document for block in gpu]
    done, flying, at = set(), {}, [0] * len(blocks)
    while True:
        ready = []
        for number, (gpu, block, steps) in enumerate(blocks):
            if at[number] == len(steps):
                continue
            step, here = steps[at[number]], int(gpu.get("id"))
            depends = (here, int(step.get("depid")), int(step.get("deps")))
            came = flying.get((int(block.get("recv")), here))
            if (depends[1] < 0 or depends in done) and (step.get("type")[0] != "r" or came):
                ready.append(number)
        if not ready:
            assert at == [len(steps) for _, _, steps in blocks]
            return held
        number = ready[random.integers(len(ready))]
        gpu, block, steps = blocks[number]
        step, here = steps[at[number]], int(gpu.get("id"))
        source = place(here, step.get("srcbuf"), int(step.get("srcoff")))
        target = place(here, step.get("dstbuf"), int(step.get("dstoff")))
        kind = step.get("type")
        if kind == "s":
            flying.setdefault((here, int(block.get("send"))), []).append(held[source])
        elif kind == "cpy":
            held[target] = held[source]
        elif kind != "nop":
            came = flying[int(block.get("recv")), here].pop(0)
            assert kind == "r" or not came & held[source]
            held[target] = came if kind == "r" else came | held[source]
        done.add((here, int(block.get("id")), at[number]))
        at[number] += 1


@pytest.mark.parametrize(
    "words", ["allreduce hypercube:3 --items 8", "allreduce mesh:2x3", "exchange torus:3x3"]
)
def test_blocks_of_an_exported_file_may_run_side_by_side_in_any_order(words, tmp_path):
    file = tmp_path / "s.xml"
    assert CommandSession(["schedule", "export", *words.split(), "--out", str(file)]).run() == 0
    document = ElementTree.parse(file).getroot()
    gpus = int(document.get("ngpus"))
    for seed in range(5):
        held = run_side_by_side(document, np.random.default_rng(seed))
        for gpu in range(gpus):
            if words.startswith("exchange"):
                got = [held[gpu, "o", other] for other in range(gpus)]
                assert got == [frozenset({(other, gpu)}) for other in range(gpus)]
                continue
            for chunk in range(int(document.get("nchunksperloop"))):
                assert held[gpu, "i", chunk] == {(other, chunk) for other in range(gpus)}


@pytest.mark.parametrize(
    "words", ["broadcast lens:2,3,3 --items 5", "allreduce clens:3,2 --items 4 --ports all"]
)
def test_what_goes_over_busses_is_exported_with_them(words, tmp_path, capsys):
    file, network = tmp_path / "s.csv", words.split()[1]
    CommandSession(["schedule", "export", *words.split(), "--out", str(file), "--json"]).run()
    wrote = json.loads(capsys.readouterr().out)["result"]
    assert CommandSession(["schedule", "check", str(file), "--on", network, "--json"]).run() == 0
    read = json.loads(capsys.readouterr().out)["result"]
    assert (read["steps"], read["messages"]) == (wrote["steps"], wrote["messages"])
    assert read["correct"] and 0 < read["lower_bound"] <= read["steps"]
    assert CommandSession(["schedule", "export", *words.split(), "--out", f"{file}.xml"]).run() == 2
    assert "has busses, and no MSCCL file says what goes over which" in capsys.readouterr().err


def test_items_are_for_collectives_that_have_pipelines(tmp_path, capsys):
    line = f"schedule export exchange ring:4 --items 2 --out {tmp_path}/s.csv"
    assert CommandSession(line.split()).run() == 2
    assert "--items does not apply to exchange" in capsys.readouterr().err


def rows(*changes, **header):
    """The broadcast 0 -> 1 -> 2 on a path of three, with other rows or header."""
    purpose = {"collective": "broadcast", "processors": 3, "root": 0} | header
    return made.csv_file(list(changes) or [(1, 0, 1, 0), (2, 1, 2, 0)], **purpose)


def npz(**arrays):
    """An NPZ file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


COLUMNS = {name: np.array([1, 2]) for name in ("step", "from", "to", "chunk")}
ENTITY = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><algo name="&b;"/>'
TRUNCATED = made.ring_allgather(4)[:300]
NOBODY = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 0\n}\nrank 1 {\n}\n"
CIRCLE = (
    "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 0\nb: send 8b to 1 tag 0\nb requires a\n}\n"
    "rank 1 {\na: recv 8b from 0 tag 0\nb: send 8b to 0 tag 0\nb requires a\n}\n"
)

REFUSED = [
    ("s.xml", made.ring_allgather(8), "hypercube:3", "step 1: processor 1 sends to 2, and hyp"),
    ("s.csv", rows((1, 0, 2, 0)), "mesh:3", "line 5, step 1: processor 0 sends to 2, and mesh:3 h"),
    ("s.csv", rows((1, 0, 1, 0), (1, 1, 2, 0)), "mesh:3", "line 6, step 1: processor 1 sends"),
    ("s.csv", rows((1, 0, 1, 0), (1, 0, 1, 0)), "mesh:3", "line 6: 0 sends to 1 twice in step 1"),
    ("s.csv", rows((0, 0, 1, 0)), "mesh:3", "line 5: step is 1..16777216, not 0"),
    ("s.csv", rows((1, 0, 1, 1)), "mesh:3", "line 5: chunk is 0..0, not 1"),
    ("s.csv", rows((1, 0, "x", 0)), "mesh:3", "line 5: to is a whole number, not 'x'"),
    ("s.csv", rows((1, 0, 7, 0)), "mesh:3", "line 5, step 1: node 7 is not in mesh:3"),
    ("s.csv", rows((1, 1, 1, 0)), "mesh:3", "line 5: processor 1 sends to itself"),
    ("s.csv", rows((1, 0, 1, 0, "a")), "mesh:3", "line 5: a broadcast has nothing to add"),
    ("s.csv", rows((1, 0, 1, 0, "q")), "mesh:3", "line 5: op is c (copy) or a (add)"),
    ("s.csv", rows(), "mesh:4", "header: the schedule is for 3 processors, and mesh:4 has 4"),
    ("s.csv", rows(edges_sha256="00"), "mesh:3", "header: made for another network"),
    ("s.csv", rows(colour=1), "mesh:3", "unknown key 'colour'"),
    ("s.csv", rows(root=3), "mesh:3", "header: root is a whole number 0..2, not '3'"),
    ("s.csv", rows(chunks=10**9), "mesh:3", "header: chunks is a whole number"),
    ("s.csv", rows(collective="shout"), "mesh:3", "header: there is no collective 'shout'"),
    ("s.csv", "# mpinet-schedule 9\n", "mesh:3", "version 1 is known"),
    ("s.csv", "", "mesh:3", "the file has no line of column names"),
    ("s.csv", "step,from,to\n", "mesh:3", "the columns are step, from, to, chunk"),
    ("s.csv", rows()[:-4], "mesh:3", "line 6: the row has 3 values for 4 columns"),
    ("s.csv", b"\xff\x00\x80", "mesh:3", "has none of the recognized contents"),
    ("s.npz", npz(**COLUMNS), "mesh:3", "the file has no header"),
    ("s.npz", npz(header=np.array("[]"), **COLUMNS), "mesh:3", "header: give a JSON object with"),
    ("s.npz", npz(header=np.array({}, object), **COLUMNS), "mesh:3", "is not an .npz of plain"),
    ("s.npz", npz(header=np.array("{}"), **COLUMNS)[:200], "mesh:3", "is not an .npz of plain"),
    ("s.xml", ENTITY, "mesh:3", "line 1: document types and entities are not read"),
    ("s.xml", ENTITY.encode("utf-16"), "mesh:3", "document types and entities are not read"),
    ("s.xml", TRUNCATED, "ring:4", "this is not XML"),
    ("s.xml", "<html/>", "mesh:3", "has none of the recognized contents"),
    ("s.xml", "<algo>" * 40 + "</algo>" * 40, "mesh:3", "depth of more than 16"),
    ("s.xml", made.forest([(0, 1, [(1, 2)])]), "mesh:3", "1 sends before receiving anything"),
    ("s.xml", made.forest([(0, 1, [("a", 1)])]), "mesh:3", "a path is the numbers of nodes"),
    ("s.goal", NOBODY, "mesh:2", "there are 1 sends from 0 to 1 with tag 0, and 0 receives"),
    ("s.goal", CIRCLE, "mesh:2", "waits for ever"),
    ("s.goal", NOBODY[:-2], "mesh:2", "the block of rank 1 is closed"),
    ("s.goal", "num_ranks 2\nrank 0 {\nshout\n}\n", "mesh:2", "line 3: not a line of GOAL"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "network", "sentence"), REFUSED)
def test_a_wrong_file_is_refused_with_one_sentence(
    name, content, network, sentence, tmp_path, capsys
):
    found = run(tmp_path, capsys, name, content, f"--on {network}")
    assert found.status == 2
    assert found.error.startswith(f"{name}, ")
    assert sentence in found.error
    assert "\n" not in found.error and "Traceback" not in found.error


def test_sums_of_what_all_had_first_take_a_step_for_each_port(tmp_path, capsys):
    text = made.all_pairs_allreduce(4)
    found = run(tmp_path, capsys, "s.xml", text, "--on complete:4 --ports all")
    assert (found.status, found.result["steps"], found.result["correct"]) == (0, 1, True)
    found = run(tmp_path, capsys, "s.xml", text, "--on complete:4")
    assert (found.status, found.result["steps"], found.result["correct"]) == (0, 3, True)


def test_a_collective_that_the_file_does_not_name_can_be_said(tmp_path, capsys):
    steps = [made.step(at, kind, ("i", 0), ("o", 0)) for at, kind in enumerate(("s", "cpy"))]
    came = made.step(0, "r", ("i", 0), ("o", 0))
    text = made.algo("custom", 2, 1, [[(1, -1, steps)], [(-1, 0, [came])]], 0)
    found = run(tmp_path, capsys, "s.xml", text, "--on mesh:2")
    assert (found.status, "is not one of allgather" in found.error) == (2, True)
    found = run(tmp_path, capsys, "s.xml", text, "--on mesh:2 --collective broadcast --root 0")
    assert (found.result["steps"], found.result["correct"]) == (1, True)


def test_nothing_of_a_pickle_is_run(tmp_path, capsys):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "trapped"), "w"))

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("header.npy", pickle.dumps(Trap()))
    assert run(tmp_path, capsys, "s.npz", file.getvalue(), "--on mesh:3").status == 2
    assert not (tmp_path / "trapped").exists()


def test_a_damaged_byte_of_a_packed_file_is_told_in_a_sentence(tmp_path, capsys):
    file = io.BytesIO()
    np.savez_compressed(file, header=np.array("{}"), **COLUMNS)
    whole = file.getvalue()
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 0x41
        found = run(tmp_path, capsys, "s.npz", bytes(damaged), "--on mesh:3")
        assert found.status == 2
        assert found.error.startswith("s.npz, ")


@pytest.mark.parametrize("header", ["{'shape': (3,", "{'shape': (3L,)", "  {", "''"])
def test_a_damaged_header_of_an_array_is_told_in_a_sentence(tmp_path, capsys, header):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        text = header.encode()
        packed.writestr("header.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text)
    found = run(tmp_path, capsys, "s.npz", file.getvalue(), "--on mesh:3")
    assert (found.status, found.error[:7]) == (2, "s.npz, ")


def test_a_result_names_the_formats_of_the_table_and_no_others():
    names = [format.name for format in FORMATS] + list(WRITTEN)
    hint = get_type_hints(ScheduleResult)["format"]
    assert sorted(get_args(hint)) == sorted({*names})
    [option] = [each for each in options_of(export) if each.name == "format"]
    assert sorted(option.choices) == sorted(WRITTEN)


def test_a_file_that_is_too_large_is_not_read(tmp_path, capsys, monkeypatch):
    from mpinet.programs.schedules.files import own

    packed = io.BytesIO()
    np.savez_compressed(packed, header=np.zeros(10**5))
    assert len(packed.getvalue()) < 5000
    monkeypatch.setattr(own, "MOST_BYTES", 5000)
    monkeypatch.setattr(read_bytes, "__defaults__", (5000,))
    found = run(tmp_path, capsys, "s.csv", rows() + "#" * 5000, "--on mesh:3")
    assert (found.status, "has more than 5,000 bytes" in found.error) == (2, True)
    found = run(tmp_path, capsys, "s.npz", packed.getvalue(), "--on mesh:3")
    assert (found.status, "the unpacked file has more than" in found.error) == (2, True)


def test_a_schedule_that_breaks_the_port_model_ends_with_status_1(tmp_path, capsys):
    both = rows((1, 0, 1, 0), (1, 0, 2, 0))
    found = run(tmp_path, capsys, "s.csv", both, "--on ring:3")
    assert found.status == 1
    assert found.error.startswith("s.csv, step 1: processor 0 sends on port ")
    assert run(tmp_path, capsys, "s.csv", both, "--on ring:3 --ports all").status == 0


def test_a_schedule_that_leaves_somebody_out_is_not_correct(tmp_path, capsys):
    found = run(tmp_path, capsys, "s.csv", rows((1, 0, 1, 0)), "--on mesh:3")
    assert (found.status, found.result["correct"]) == (1, False)


SUMS = [
    ([(1, 2, 1, 0, "a"), (2, 1, 0, 0, "a")], 0, True),
    ([(1, 2, 1, 0, "a"), (2, 1, 0, 0, "c")], 1, False),  # the root's own is overwritten
    ([(1, 1, 0, 0, "a"), (2, 2, 1, 0, "a")], 1, False),
]


@pytest.mark.parametrize(("moves", "status", "correct"), SUMS)
def test_a_sum_has_everybody_in_it_once(moves, status, correct, tmp_path, capsys):
    content = rows(*moves, collective="reduce")
    found = run(tmp_path, capsys, "s.csv", content, "--on mesh:3")
    assert (found.status, found.result["correct"]) == (status, correct)


def test_who_is_added_twice_is_named(tmp_path, capsys):
    moves = [(1, 2, 1, 0, "a"), (2, 2, 1, 0, "a"), (3, 1, 0, 0, "a")]
    found = run(tmp_path, capsys, "s.csv", rows(*moves, collective="reduce"), "--on mesh:3")
    assert found.status == 2
    assert "step 2: processor 1 adds to chunk 0 a second time the contribution" in found.error
    assert "the contribution of processor 2" in found.error
