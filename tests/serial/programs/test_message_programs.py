"""Programs of messages are read as they stand, or refused with the line that is wrong."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import mpinet
from mpinet.errors import FileError, UsageError
from mpinet.machine.timed.program import Builder
from mpinet.programs.messages.goal import program_of, read_goal
from mpinet.programs.messages.writing import write_goal

TWO = "num_ranks 2\nrank 0 {\nl1: calc 5\n%s\n}\n"


def test_operations_stand_by_rank_whatever_the_order_of_the_blocks() -> None:
    program = program_of(
        b"num_ranks 3 // three\n\nrank 2 {\n x : send 10b to 0 tag 4 cpu 2\n"
        b"y: recv 3 from any tag any\ny irequires x # both\n}\nrank 0{\n"
        b"recv 10b from 2 tag 4 nic 0;\n}\nrank 2 {\nx: calc 7\n}\n"
    )
    assert program.first.tolist() == [0, 1, 1, 4]
    assert program.kind.tolist() == [2, 1, 2, 0]
    assert program.amount.tolist() == [10, 10, 3, 7]
    assert program.peer.tolist() == [2, 0, -1, -1]
    assert program.cpu.tolist() == [0, 2, 0, 0]
    assert program.tag.tolist() == [4, 4, 2**32 - 1, 0]
    assert program.needs_first.tolist() == [0, 0, 0, 1, 1]
    assert program.needs.tolist() == [0 << 1 | 1]
    assert program.lines.tolist() == [9, 4, 5, 12]


def test_remarks_stand_anywhere_on_a_line_as_schedgen_writes_them() -> None:
    program = program_of(
        b"/* a */ num_ranks 1\nrank 0 {\n/* begin */\nl1: calc /* ** */ 7 /**/ cpu 1\n/* end */}\n"
    )
    assert [program.amount.tolist(), program.cpu.tolist()] == [[7], [1]]
    program = program_of(
        b"num_ranks 1\n/* over\n// two */ rank 0 { // no /* remark\ncalc 3 # nor /* here */\n}\n"
    )
    assert [program.amount.tolist(), program.lines.tolist()] == [[3], [4]]
    with pytest.raises(FileError, match=r"^program, line 2: .*not a line of GOAL: '/\* open'"):
        program_of(b"num_ranks 1\n/* open\nrank 0 {\n}\n")


def test_minus_one_is_any_as_txt2bin_reads_it() -> None:
    texts = [TWO % f"recv 5b from {word} tag {word}" for word in ("any", "-1")]
    one, other = (program_of(text.encode()) for text in texts)
    assert one.sha256 == other.sha256
    assert (one.peer[1], one.tag[1]) == (-1, 2**32 - 1)


@pytest.mark.parametrize(
    "line", ["send 5b to -1", "send 5b to 1 tag -1", "recv 5b from -2", "recv 5b from -1x"]
)
def test_minus_one_stands_for_no_other_number(line: str) -> None:
    with pytest.raises(FileError, match="line 4: a "):
        program_of((TWO % line).encode())


def test_lines_of_requirements_are_written_in_their_order() -> None:
    # The step of l1 issues first what stands first: l3, then l2.
    text = TWO % "l2: send 5b to 1\nl3: send 6b to 1\nl3 requires l1\nl2 requires l1"
    program = program_of(text.encode())
    assert program.turns is not None and program.turns.tolist() == [1, 0]
    written = BytesIO()
    write_goal(program, written)
    assert program_of(written.getvalue()).sha256 == program.sha256
    sorted_lines = program_of((TWO % "l2: calc 5\nl2 requires l1").encode())
    assert sorted_lines.turns is None


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("l2: send 0b to 1", "a message at least 1 byte"),
        ("send 5b to 2", "the rank is not below num_ranks 2"),
        ("send 5b from 1", "a send needs a rank, a recv a rank or any"),
        ("send 5b to any", "a send needs a rank, not any"),
        ("recv 5b from 1 tag 4294967295", "a tag is 0..2\\^32-2"),
        ("send 5b to 1 tag any", "a tag is 0..2\\^32-2"),
        ("calc 5 cpu 65536", "CPUs are 0..65535"),
        ("calc 1234567890123456", "at most 15 digits"),
        ("calc 5 tag 3", "not a line of GOAL"),
        ("l1 requires l9", "no earlier operation of this rank has the label l9"),
        ("l1 after l1", "not a line of GOAL"),
        ("wait 3", "not a line of GOAL"),
        ("rank 1 {", "the block of rank 0 must be closed"),
    ],
)
def test_a_wrong_line_is_named(line: str, sentence: str) -> None:
    with pytest.raises(FileError, match=f"^program, line 4: .*{sentence}"):
        program_of((TWO % line).encode())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rank 0 {\n}\n", "line 1: num_ranks must come first"),
        ("num_ranks 1\nnum_ranks 1\n", "line 2: num_ranks is given twice"),
        ("num_ranks 1\nrank 1 {\n}\n", "line 2: the rank is not below num_ranks 1"),
        ("num_ranks 1\ncalc 3\n", "line 2: the line is outside of a rank's block"),
        ("num_ranks 1\n}\n", "line 2: the line is outside of a rank's block"),
        ("num_ranks 1\nrank 0 {\n", "the file ends before the block of rank 0 is closed"),
        ("num_ranks 0\n", "num_ranks is 1..1073741824, not 0"),
        ("", "^program: the file has no num_ranks"),
        ("# a comment\n\n", "^program: the file has no num_ranks"),
        ("rank 0", "^program, line 1: num_ranks must come first"),
    ],
)
def test_a_file_without_its_frame_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        program_of(text.encode())


def test_a_file_that_is_not_there_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"Cannot read .*: No such file"):
        read_goal(tmp_path / "none.goal")


def test_a_program_is_the_same_built_and_read() -> None:
    builder = Builder(2)
    work = builder.calc(0, 5)
    sent = builder.send(0, 1, 10, tag=3, after=work)
    builder.after(0, sent, work, begun=True)
    builder.recv(1, None, 10, tag=None, cpu=1)
    built = builder.done()
    read = program_of(
        b"num_ranks 2\nrank 0 {\na: calc 5\nb: send 10b to 1 tag 3\n"
        b"b requires a\nb irequires a\n}\n"
        b"rank 1 {\nrecv 10b from any tag any cpu 1\n}\n"
    )
    for name in ("first", "kind", "amount", "peer", "cpu", "tag", "needs_first", "needs"):
        assert np.array_equal(getattr(built, name), getattr(read, name)), name


@pytest.mark.parametrize(
    "wrong",
    [
        lambda program: program.send(0, 2, 10),
        lambda program: program.send(0, 1, 0),
        lambda program: program.calc(2, 1),
        lambda program: program.calc(0, -1),
        lambda program: program.after(0, 0, 1),
    ],
)
def test_what_a_builder_cannot_take_is_refused(wrong) -> None:
    with pytest.raises(UsageError):
        wrong(Builder(2))


def test_operations_that_never_end_name_both_ends() -> None:
    program = Builder(2)
    program.recv(0, 1, 8, tag=1)
    program.send(1, 0, 8, tag=2)
    found = mpinet.replay(program.done(), flat=10, gap_byte=0, eager=4)
    assert (found.stuck, found.first_stuck, found.unmatched) == (2, [0, 0], 1)
    assert [one.waits_for for one in found.stuck_operations] == [
        "a message from processor 1 with tag 1",
        "a receive of processor 0 with tag 2",
    ]
    assert found.shortfall.startswith("2 operations never end:")
