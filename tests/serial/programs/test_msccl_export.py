"""Exported MSCCL-XML runs in every order of thread blocks: it never hangs, its data are right."""

import json
import random
import re

import pytest
from serial.programs.mscclmachine import Hung, Machine, Refused

from mpinet.cli.session import CommandSession

EXPORTS = [
    ("gossip", "ring:8", ""),
    ("gossip", "petersen", "--ports all"),
    ("gossip", "petersen", "--items 3"),
    ("gossip", "torus:3x4", "--algorithm matching"),
    ("gossip", "complete:33", "--algorithm matching"),
    ("broadcast", "debruijn:4", "--root 3"),
    ("broadcast", "hypercube:3", "--items 10 --ports all"),
    ("reduce", "hypercube:4", ""),
    ("reduce", "ring:6", "--items 4 --root 2"),
    ("allreduce", "mesh:2x3", "--items 6"),
    ("allreduce", "ring:4", ""),
    ("allreduce", "petersen", "--items 5 --ports all"),
    ("scatter", "ccc:3", "--root 5"),
    ("gather", "mesh:3x4", "--root 7"),
    ("exchange", "torus:3x3", ""),
    ("exchange", "complete:5", "--ports all"),
]


def exported(folder, capsys, collective, network, words):
    """The text of the file, and how many items each processor has."""
    file = folder / "s.xml"
    line = f"schedule export {collective} {network} {words} --out {file}"
    assert CommandSession(line.split()).run() == 0, capsys.readouterr()
    capsys.readouterr()
    found = re.search(r"--items (\d+)", words)
    return file.read_text(), int(found[1]) if found else 1


def filled(text, collective, items, root, seed):
    """A machine with random numbers in its inputs, and what has to be in outputs in the end."""
    machine, draw = Machine(text), random.Random(seed)
    size = len(machine.gpus)
    many = items * (size if collective in ("scatter", "exchange") else 1)
    given = [[draw.getrandbits(64) for _ in range(many)] for _ in range(size)]
    for gpu in range(size):
        if collective in ("broadcast", "scatter") and gpu != root:
            continue
        buffer = "i" if collective in ("gossip", "gather", "exchange", "scatter") else "o"
        for offset, value in enumerate(given[gpu]):
            machine.write(gpu, buffer, offset, value)
    sums = [sum(each[j] for each in given) for j in range(many)]
    everything = [value for each in given for value in each]
    out = {
        "gossip": {gpu: everything for gpu in range(size)},
        "gather": {root: everything},
        "broadcast": {gpu: given[root] for gpu in range(size)},
        "scatter": {gpu: given[root][gpu * items : (gpu + 1) * items] for gpu in range(size)},
        "reduce": {root: sums},
        "allreduce": {gpu: sums for gpu in range(size)},
        "exchange": {
            gpu: [v for each in given for v in each[gpu * items : (gpu + 1) * items]]
            for gpu in range(size)
        },
    }
    return machine, out[collective]


@pytest.mark.costly
@pytest.mark.parametrize(("collective", "network", "words"), EXPORTS)
def test_an_exported_file_runs_in_every_order_of_blocks(
    collective, network, words, tmp_path, capsys
):
    text, items = exported(tmp_path, capsys, collective, network, words)
    named = re.search(r"--root (\d+)", words)
    for seed, slots in ((1, 8), (2, 8), (3, 2), (4, 1)):
        root = int(named[1]) if named else 0
        machine, wanted = filled(text, collective, items, root, seed)
        machine.run(seed, slots)
        assert not any(machine.fifos.values())
        for gpu, values in wanted.items():
            assert [machine.read(gpu, "o", j) for j in range(len(values))] == values


def test_thread_blocks_that_race_are_told_by_line_and_waiting_ends_the_race(tmp_path, capsys):
    def written(waits):
        step = '<step s="0" type="cpy" srcbuf="i" srcoff="{}" dstbuf="s" dstoff="0" cnt="1" {}/>'
        return "\n".join([
            '<algo ngpus="2" nchunksperloop="4" coll="allgather">', '<gpu id="0">',
            '<tb id="0" send="-1" recv="-1">', step.format(0, 'depid="-1" deps="-1"'), "</tb>",
            '<tb id="1" send="-1" recv="-1">', step.format(1, waits), "</tb>",
            "</gpu>", "</algo>",
        ])  # fmt: skip

    def races(waits):
        (tmp_path / "blocks.xml").write_text(written(waits))
        words = ["schedule", "run", str(tmp_path / "blocks.xml"), "--on", "complete:2", "--json"]
        assert CommandSession(words).run() == 1  # nothing is sent
        return json.loads(capsys.readouterr().out)["result"]["races"]

    said = "line 7: GPU 0 and line 4: GPU 0 both use s[0] of GPU 0, one of them writes, and"
    assert races('depid="-1" deps="-1"').startswith(said.replace(": GPU 0 ", " "))
    assert races('depid="0" deps="0"') == "none"


@pytest.mark.parametrize(("collective", "network", "words"), EXPORTS[:2] + EXPORTS[9:11])
def test_without_flags_a_file_hangs_and_without_waits_its_data_are_wrong(
    collective, network, words, tmp_path, capsys
):
    text, items = exported(tmp_path, capsys, collective, network, words)
    assert set(re.findall(r'hasdep="(\d)"', text)) == {"0", "1"}
    machine, _ = filled(text.replace('hasdep="1"', 'hasdep="0"'), collective, items, 0, 1)
    with pytest.raises(Hung):
        machine.run(1)
    heedless = re.sub(r'depid="\d+" deps="\d+"', 'depid="-1" deps="-1"', text)
    heedless = re.sub(r'<step [^>]*type="nop"[^>]*/>', "", heedless)
    wrong = 0
    for seed in range(8):
        renumbered = re.sub(
            r"(<tb [^>]*>)(.*?)(</tb>)",
            lambda found: found[1] + _numbered(found[2]) + found[3],
            heedless,
            flags=re.DOTALL,
        )
        machine, wanted = filled(renumbered, collective, items, 0, seed)
        try:
            machine.run(seed)
        except KeyError:  # a place is sent before anything has come there
            wrong += 1
            continue
        wrong += any(
            [machine.read(gpu, "o", j) for j in range(len(values))] != values
            for gpu, values in wanted.items()
        )
    assert wrong


def _numbered(steps):
    found = iter(range(len(steps)))
    return re.sub(r'<step s="\d+"', lambda _: f'<step s="{next(found)}"', steps)


def test_the_flags_are_those_that_somebody_waits_for(tmp_path, capsys):
    text, _ = exported(tmp_path, capsys, "gossip", "ring:8", "")
    machine = Machine(text)
    for gpu in machine.gpus.values():
        waited = {(step.get("depid"), step.get("deps")) for block in gpu for step in block}
        posted = {
            (block.get("id"), step.get("s"))
            for block in gpu
            for step in block
            if step.get("hasdep") == "1"
        }
        assert posted == waited - {("-1", "-1")}


@pytest.mark.parametrize("attribute", ["minBytes", "maxBytes", "outofplace", "hasdep"])
def test_a_file_without_an_attribute_is_refused_by_the_executor(attribute, tmp_path, capsys):
    text, _ = exported(tmp_path, capsys, "gossip", "ring:4", "")
    with pytest.raises(Refused, match=attribute):
        Machine(re.sub(f' {attribute}="\\d+"', "", text))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "broadcast mesh:3 --items 300",
            "A thread block of GPU 0 would have 300 steps, and MSCCL's executor takes 256",
        ),
        (
            "gossip complete:34 --algorithm rarest --ports all",
            "GPU 0 sends to 33 others, and MSCCL's executor takes 32 thread blocks a channel",
        ),
    ],
)
def test_what_the_executor_does_not_take_is_not_written(words, sentence, tmp_path, capsys):
    file = tmp_path / "s.xml"
    assert CommandSession(["schedule", "export", *words.split(), "--out", f"{file}"]).run() == 2
    assert sentence in capsys.readouterr().err
    assert not file.exists()
