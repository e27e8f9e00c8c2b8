"""Binary GOAL is read as the text that says the same, or refused with the byte that is wrong."""

import struct
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from mpi.machine.timed_reference import read_goal
from mpi.machine.timedruns import random_program

import mpinet
from mpinet.errors import FileError, TooLarge
from mpinet.programs.messages.goal import program_of

KINDS = {"send": 1, "recv": 2, "calc": 3}
ANY = 2**32 - 1


def binary_of(text):
    """The bytes that txt2bin writes for a program."""
    ranks = read_goal(text)
    place, table, parts = 4 + 2 + 16 * len(ranks), [], []
    for ops in ranks:
        roots = [i for i, op in enumerate(ops) if not op.left]
        nodes, behind = b"", []
        for op in ops:
            done, begun = op.after, op.at_start
            peer = 0 if op.kind == "calc" else op.peer % 2**32
            nodes += struct.pack(
                "<IbIQIBBIIII", op.left, KINDS[op.kind], peer, op.amount,
                op.tag % 2**32, op.cpu, 0, len(done), len(behind), len(begun),
                len(behind) + len(done),
            )  # fmt: skip
            behind += done + begun
        words = [len(ops), len(roots), *roots]
        part = struct.pack(f"<{len(words)}I", *words) + nodes
        parts.append(part + struct.pack(f"<{len(behind)}I", *behind))
        table += [place, place + len(parts[-1])]
        place = table[-1]
    cpus = max((op.cpu for ops in ranks for op in ops), default=0)
    head = struct.pack("<QIBB", 4223, len(ranks), cpus, 0)
    return head + struct.pack(f"<{len(table)}Q", *table) + b"".join(parts)


@pytest.mark.costly
@pytest.mark.parametrize("number", range(12))
def test_a_binary_program_is_the_one_of_its_text(number, tmp_path):
    text = random_program(Random(number), 7)
    one, other = program_of(text.encode()), program_of(binary_of(text))
    for name in ("first", "kind", "amount", "peer", "cpu", "tag", "needs_first"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    begins = one.needs_first.tolist()
    for begin, end in pairwise(begins):
        assert sorted(one.needs[begin:end]) == sorted(other.needs[begin:end])
    file = tmp_path / "program.bin"
    file.write_bytes(binary_of(text))
    setting = {"on": "torus:3x4", "overhead": 5, "latency": 9, "time_byte": 2, "eager": 50}
    found, known = mpinet.replay(file, **setting), mpinet.replay(one, **setting)
    for name in ("time", "ends", "waits", "busy", "messages", "unmatched", "first_stuck"):
        assert getattr(found, name) == getattr(known, name), name


GOOD = binary_of(
    "num_ranks 2\nrank 0 {\na: calc 5\nb: send 9b to 1\nb requires a\n}\n"
    "rank 1 {\nrecv 9b from any tag any\n}\n"
)
NODES = 8 + 6 + 32 + 8 + 4  # of rank 0: behind the counts and the one operation without a need


@pytest.mark.parametrize(
    ("at", "word", "sentence"),
    [
        (8, "<I", "byte 8: 4294967295 ranks do not fit into"),
        (14, "<Q", "byte 14: the part of rank 0 is not within the file"),
        (46, "<I", "byte 46: 4294967295 operations of rank 0 do not fit"),
        (50, "<I", "byte 46: 2 operations of rank 0 do not fit"),
        (NODES, "<I", f"byte {NODES}: 4294967295 requirements stated, 0 found"),
        (NODES + 4, "<B", f"byte {NODES}: the operation must have kind 1"),
        (NODES + 9, "<Q", f"byte {NODES}: the operation must have an amount of"),
        (NODES + 39 + 5, "<I", f"byte {NODES + 39}: .* a peer below 2"),
        (NODES + 39 + 17, "<I", f"byte {NODES + 39}: .* a single tag"),
        (NODES + 23, "<I", f"byte {NODES}: its waiting operations are missing"),
        (NODES + 27, "<I", f"byte {NODES}: its waiting operations are missing"),
        (NODES + 78, "<I", f"byte {NODES + 78}: an operation is not below 2"),
    ],
)
def test_a_wrong_byte_is_named(at, word, sentence):
    wrong = bytearray(GOOD)
    size = struct.calcsize(word)
    struct.pack_into(word, wrong, at, 2 ** (8 * size) - 1)
    with pytest.raises((FileError, TooLarge), match=sentence):
        program_of(bytes(wrong))
    assert program_of(GOOD).operations == 3


@pytest.mark.parametrize("length", [8, 13, 40, 60, len(GOOD) - 1])
def test_a_file_that_is_cut_off_is_refused(length):
    with pytest.raises(FileError, match="byte"):
        program_of(GOOD[:length])


@pytest.mark.parametrize("more", [1, 4, 39])
def test_bytes_behind_the_last_part_are_refused(more):
    with pytest.raises(FileError, match=rf"byte {len(GOOD)}: the file continues after the last"):
        program_of(GOOD + bytes(more))
