"""The debugger on every processor: the lines typed and the texts shown, on any number of ranks."""

import io
import pickle
import re
from pathlib import Path
from textwrap import dedent

import pytest
from mpi.machine.ranks import everyone, transport

import mpinet
from mpinet.errors import Deadlock, ProgramError, UsageError
from mpinet.mpi.debugging.plan import DebugPlan, Goal, Repeat
from mpinet.mpi.script import ScriptOptions, run_script

pytestmark = pytest.mark.mpi


def debugged(folder, network, script, lines, **plan):
    """The texts that the debugger shows for typed lines, the script's output, and the error."""
    file, out = folder / "script.py", io.StringIO()
    file.write_text(dedent(script).lstrip())
    typed, shown = iter(lines), []

    def ask(text, stream):
        shown.append(text)
        return next(typed, None)

    plan = DebugPlan(ask=ask, **plan)
    options, error = ScriptOptions(out=out, debug=plan), None
    while True:
        machine = mpinet.Machine(network, "all", transport())
        try:
            run_script(machine, file, options)
        except Repeat:
            continue
        except (Deadlock, ProgramError, UsageError) as ended:
            error = ended
        break
    shown, said = everyone((shown, out.getvalue()))[0]
    return shown, said, error


HANGS = """
from mpi4py import MPI

comm = MPI.COMM_WORLD

def collect():
    return comm.recv(source=1, tag=7)

def finish():
    comm.barrier()

if comm.rank == 0:
    collect()
elif comm.rank == 1:
    comm.send("result", dest=0, tag=8)
finish()
"""
"""Rank 0 waits for tag 7, but rank 1 sends tag 8."""


def test_a_deadlock_names_groups_of_processors_by_line_and_functions(tmp_path):
    _, _, error = debugged(tmp_path, "ring:6", HANGS, [])
    assert error.waiting == [
        {
            "call": "recv",
            "file": "script.py",
            "line": 6,
            "chain": ["collect"],
            "processors": 1,
            "intervals": [[0, 0]],
        },
        {
            "call": "barrier",
            "file": "script.py",
            "line": 9,
            "chain": ["finish"],
            "processors": 5,
            "intervals": [[1, 5]],
        },
    ]
    assert re.search(r"  0: recv at \S+/script.py:6 via collect\n", str(error))
    assert re.search(r"  1-5: barrier at \S+/script.py:9 via finish$", str(error))


def test_processors_of_a_deadlock_with_lines_of_their_own_form_no_groups(tmp_path):
    script = "from mpi4py import MPI\nMPI.COMM_WORLD.recv(source=1 - MPI.COMM_WORLD.rank)\n"
    _, _, error = debugged(tmp_path, "complete:2", script, [])
    assert "by line" not in str(error)
    assert [group["intervals"] for group in error.waiting] == [[[0, 1]]]


def test_where_in_a_deadlock_and_its_report_name_the_same_groups(tmp_path):
    lines = ["c", "where", "q"]
    shown, _, error = debugged(
        tmp_path, "ring:5", HANGS, lines, processor=3, stops_at_failures=True
    )
    groups = shown[1].partition("Waiting processors by line:\n")[2].partition("\n>")[0]
    assert shown[2].startswith(groups + "\n")
    assert "the debugger has ended the run" in str(error)


PASSES = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size

def shift(value):
    got = comm.sendrecv(value, (rank + 1) % size, source=(rank - 1) % size)
    return got

mine = rank
for turn in range(3):
    mine = shift(mine)
print(rank, mine)
"""


@pytest.mark.parametrize("processor", [0, 2, 5])
def test_pdb_stops_steps_and_evaluates_on_any_processor(tmp_path, processor):
    lines = ["n", "n", "n", "p rank", "tbreak 8", "c", "p value, got", "u", "p turn", "c"]
    shown, said, error = debugged(tmp_path, "ring:6", PASSES, lines, processor=processor)
    assert error is None and len(shown) == len(lines)
    assert all(text.endswith(f"(Pdb {processor}) ") for text in shown)
    assert f"\n{processor}\n" in "\n" + shown[4]
    assert "script.py(8)shift()\n-> return got" in shown[6]
    assert shown[7].startswith(f"({processor}, {(processor - 1) % 6})\n")
    assert "script.py(12)<module>()" in shown[8] and shown[9].startswith("0\n")
    assert sorted(said.splitlines()) == [f"{rank} {(rank - 3) % 6}" for rank in range(6)]


def test_the_script_prints_the_same_with_and_without_the_debugger(tmp_path):
    _, plain, _ = debugged(tmp_path, "ring:6", PASSES, [])
    lines = ["n"] * 30 + ["c"]
    _, stepped, _ = debugged(tmp_path, "ring:6", PASSES, lines, processor=4)
    assert sorted(stepped.splitlines()) == sorted(plain.splitlines())


def test_a_step_from_call_to_call_never_enters_the_emulator(tmp_path):
    shown, _, _ = debugged(tmp_path, "ring:4", PASSES, ["s"] * 60, processor=1)
    places = [re.search(r"> (\S+)\(\d+\)", text) for text in shown]
    assert {Path(place[1]).name for place in places if place} == {"script.py"}


def test_breakpoint_stops_each_processor_and_the_lowest_one_first(tmp_path):
    script = "from mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\nbreakpoint()\nprint(rank)\n"
    shown, said, _ = debugged(tmp_path, "ring:5", script, ["p rank", "c"] * 5)
    assert [text.endswith(f"(Pdb {number // 2}) ") for number, text in enumerate(shown)]
    assert [text.split("\n")[0] for text in shown[1::2]] == ["0", "1", "2", "3", "4"]
    assert said.split() == ["0", "1", "2", "3", "4"]
    shown, _, _ = debugged(tmp_path, "ring:5", script, ["c", "p rank", "c"], processor=3)
    assert shown[2].startswith("3\n")


def test_pdb_set_trace_stops_like_breakpoint(tmp_path):
    script = (
        "from mpi4py import MPI\nimport pdb\nif MPI.COMM_WORLD.rank == 2: pdb.set_trace()\nx = 1\n"
    )
    shown, _, error = debugged(tmp_path, "ring:3", script, ["c"])
    assert error is None and shown[0].endswith("(Pdb 2) ")


def test_breakpoints_belong_to_a_processor(tmp_path):
    script = PASSES.replace("mine = rank\n", "mine = rank\nif rank in (1, 4): breakpoint()\n")
    lines = ["b 8", "c", "c", "c", "c", "c"]
    shown, _, error = debugged(tmp_path, "ring:6", script, lines)
    assert error is None
    stops = [text.rpartition("(Pdb ")[2] for text in shown]
    assert stops == ["1) ", "1) ", "4) ", "1) ", "1) ", "1) "]


def test_a_failure_stops_at_the_failing_processor(tmp_path):
    script = PASSES + "assert rank != 4, 'four'\n"
    lines = ["c", "p mine", "c"]
    shown, _, error = debugged(
        tmp_path, "ring:6", script, lines, processor=1, stops_at_failures=True
    )
    assert "Processor 4, after step 3" in shown[1] and "AssertionError: four" in shown[1]
    assert shown[1].endswith("(Pdb 4) ") and shown[2].startswith("1\n")
    assert isinstance(error, ProgramError) and "AssertionError: four" in str(error)


def test_queues_and_inflight_name_the_unreceived_message_and_its_line(tmp_path):
    lines = ["c", "queues 0", "queues", "inflight", "queues 6", "queues x", "q"]
    shown, _, _ = debugged(tmp_path, "ring:6", HANGS, lines, processor=3, stops_at_failures=True)
    size = len(pickle.dumps("result", protocol=5))
    message = rf"  to 0: from 1 with tag 8, {size} bytes, sent by send at \S+script.py:14; arrived"
    receives = r"waits in recv at \S+script.py:6 for a message from rank 1 with tag 7\n"
    assert re.search(rf"^processor 0:\n  {receives}posted receives:\n  none\n", shown[2])
    assert re.search(message, shown[2]) and re.search(message, shown[4])
    assert re.match(r"processor 3:\n  waits in barrier at \S+:9 for a message from rank", shown[3])
    assert shown[5].startswith("*** there is no processor 6: give 0..5\n")
    assert shown[6].startswith("*** x is not a number\n")


def test_queues_list_posted_receives_in_order_and_unexpected_messages_of_each_kind(tmp_path):
    script = """
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    half = comm.Split(comm.rank % 2)
    if comm.rank == 0:
        requests = [comm.irecv(source=3, tag=5), comm.irecv(tag=6), half.irecv(source=1)]
        comm.recv(source=1, tag=1)
        breakpoint()
        comm.send(0, dest=2)
    elif comm.rank == 1:
        comm.send(b"x" * 100, dest=0, tag=2)
        comm.send(0, dest=0, tag=1)
    elif comm.rank == 2:
        comm.recv(source=0)
    """
    lines = ["c", "queues", "queues 2", "c"]
    shown, _, error = debugged(tmp_path, "complete:4", script, lines, processor=0)
    assert error is None
    posted = [
        "from rank 3 with tag 5",
        "from any rank with tag 6",
        "from rank 1 with any tag, in a",
    ]
    text = re.sub(r"\s+", " ", shown[2])
    assert " ".join(["posted receives:", *posted]) in text
    assert re.search(r"unexpected messages: to 0: from 1 with tag 2, \d+ bytes, sent by send", text)
    assert "for a message from rank 0" in shown[3]


def test_inflight_shows_messages_on_their_way_with_place_and_step(tmp_path):
    script = """
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        comm.send(1, dest=3, tag=9)
        comm.recv(source=1)
    elif comm.rank == 1:
        comm.send(2, dest=0)
    elif comm.rank == 3:
        comm.recv(source=0)
    """
    plan = {"processor": 0, "goal": Goal(step=1), "stops_at_failures": True}
    shown, _, error = debugged(tmp_path, "ring:8", script, ["inflight", "c"], **plan)
    assert error is None and shown[0].startswith("--Step 1--\n")
    size = len(pickle.dumps(1, protocol=5))
    assert re.search(
        rf"^1 message is sent and not received.\n  to 3: from 0 with tag 9, {size} bytes, "
        r"sent by send at \S+script.py:4 after step 0; at processor 1\n",
        shown[1],
    )


def test_next_message_stops_at_each_arrival(tmp_path):
    lines = ["next-message", "next-message", "next-message", "p rank, turn", "n", "c"]
    shown, _, error = debugged(tmp_path, "ring:6", PASSES, lines, processor=3)
    assert error is None
    size = len(pickle.dumps(1, protocol=5))
    for value, text in enumerate(shown[1:4]):
        said = rf"--Message-- from 2 with tag 0, {size} bytes, sent by sendrecv at \S+:7"
        assert re.match(said, text), (value, text)
    assert shown[4].startswith("(3, 2)\n") and "script.py(8)shift()" in shown[5]


def test_back_returns_to_the_stop_before_and_undoes_what_happened_since(tmp_path):
    lines = ["tbreak 12", "c", "n", "p mine", "back", "p mine", "!mine = 40", "n", "p mine"]
    lines += ["back", "n", "p mine", "back 1", "p turn", "restart", "c"]
    shown, said, error = debugged(tmp_path, "ring:6", PASSES, lines, processor=2)
    assert error is None
    asked = [number for number, line in enumerate(lines) if line.startswith("p ")]
    # A shift brings the left neighbour's value, so the changed value does not come back.
    assert [shown[number + 1].split("\n")[0] for number in asked] == ["1", "2", "1", "1", "0"]
    assert "script.py(12)<module>()" in shown[5]
    assert "--Step 1--" in shown[13]
    assert "script.py(1)<module>()" in shown[15]
    assert sorted(said.splitlines()) == [f"{rank} {(rank - 3) % 6}" for rank in range(6)]


def test_back_reports_what_it_cannot_do(tmp_path):
    lines = ["back", "back 99", "back x", "c"]
    shown, _, error = debugged(tmp_path, "ring:6", PASSES, lines, processor=2)
    assert error is None
    assert shown[1].startswith(
        "*** this is the first stop; back STEP repeats the run up to a step\n"
    )
    assert shown[2].startswith("*** the run is at step 0: give 0..0\n")
    assert shown[3].startswith("*** x is not a number\n")


def test_a_run_that_differs_when_it_is_repeated_is_reported(tmp_path):
    script = """
    from mpi4py import MPI
    comm, rank, runs = MPI.COMM_WORLD, MPI.COMM_WORLD.rank, None
    if rank == 0:
        with open(__file__ + ".runs", "a+") as file:
            file.write("x")
            runs = file.tell()
    runs = comm.bcast(runs)
    if rank == runs - 1:
        breakpoint()
    last = 1
    """
    shown, _, error = debugged(
        tmp_path, "complete:2", script, ["p rank", "n", "back", "p rank", "c"]
    )
    assert error is None and "(Pdb 0) " in shown[0]
    assert shown[3].startswith("*** The repeated run differs") and shown[4].startswith("1\n")


@pytest.mark.parametrize("step", [1, 2, 3])
def test_until_stops_at_a_step(tmp_path, step):
    plan = {"processor": 4, "goal": Goal(step=step)}
    shown, _, error = debugged(tmp_path, "ring:6", PASSES, ["p turn", "n", "c"], **plan)
    assert error is None and shown[0].startswith(f"--Step {step}--\n")
    assert shown[1].startswith(f"{step - 1}\n") and "script.py(8)shift()" in shown[2]


def test_until_stops_at_a_line_of_a_rank(tmp_path):
    plan = {"goal": Goal(5, 0, str(tmp_path / "script.py"), 13)}
    shown, _, error = debugged(tmp_path, "ring:6", PASSES, ["p rank", "n", "c"], **plan)
    assert error is None
    assert "script.py(13)<module>()" in shown[0] and shown[1].startswith("5\n")


@pytest.mark.parametrize("goal", [Goal(step=99), Goal(1, 0, "script.py", 14)])
def test_a_stop_that_is_never_reached_is_an_error(tmp_path, goal):
    script = PASSES.replace("range(3)", "range(3 * (rank == 99))").replace(
        "shift(mine)", "\\\n shift(1)"
    )
    goal = goal._replace(file=str(tmp_path / goal.file)) if goal.file else goal
    script = PASSES.replace("print(rank, mine)", "if size == 1:\n    print(rank)")
    _, _, error = debugged(tmp_path, "ring:6", script, [], goal=goal)
    said = "line 14 of" if goal.file else "step 99"
    assert isinstance(error, UsageError) and said in str(error)


def test_input_that_ends_at_a_prompt_is_an_error(tmp_path):
    _, _, error = debugged(tmp_path, "ring:4", PASSES, ["n"], processor=1)
    assert isinstance(error, UsageError) and "Processor 1 waits in the debugger" in str(error)


def test_a_command_that_sends_the_missing_message_ends_a_deadlock(tmp_path):
    lines = ["c", "comm.send('late', dest=0, tag=7)", "c", "q"]
    shown, said, error = debugged(
        tmp_path, "ring:3", HANGS + "print(comm.rank)\n", lines, processor=1, stops_at_failures=True
    )
    assert error is None and len(shown) == 3 and sorted(said.split()) == ["0", "1", "2"]


def test_many_intervals_functions_and_groups_are_shortened(tmp_path):
    script = """
    from mpi4py import MPI
    comm = MPI.COMM_WORLD

    def deep(depth):
        return comm.recv(source=comm.rank) if depth == 0 else deep(depth - 1)

    def outer(depth):
        return deep(depth)

    if comm.rank % 2:
        outer(20)
    lines = "\\n" * comm.rank + "comm.recv(source=comm.rank)"
    exec(compile(lines, "lines.py", "exec"))
    """
    _, _, error = debugged(tmp_path, "complete:60", script, [])
    odd = next(group for group in error.waiting if group["processors"] == 30)
    assert odd["intervals"] == [[number, number] for number in range(1, 60, 2)]
    assert odd["chain"] == ["outer", "deep"]
    shown = ", ".join(str(number) for number in range(1, 25, 2))
    assert re.search(rf"^  {shown} and 18 more: recv at \S+:5 via outer > deep$", str(error), re.M)
    assert len(error.waiting) == 31 and str(error).endswith("\n  .. and 19 more lines")
    even = [group["line"] for group in error.waiting if group["processors"] == 1]
    assert even == [number + 1 for number in range(0, 60, 2)]
