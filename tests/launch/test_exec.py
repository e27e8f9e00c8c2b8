"""mpinet exec as its users meet it: scripts as under mpirun, and sentences when one is wrong."""

import json
import os
import signal
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, ONE_OR_MORE, TIME_LIMIT, in_turn_on

pytestmark = pytest.mark.usefixtures("forked")

REAL = str(CHECKOUT / ".venv/bin/mpinet")
"""The command itself, for what a script finds of the emulator's imports."""

HEADING = """
import sys, time

from mpi4py import MPI

comm = MPI.COMM_WORLD
me, n = comm.Get_rank(), comm.Get_size()
"""

STUCK = {
    "a cycle of receives": (
        "comm.recv(source=(me + 1) % n, tag=4)",
        [
            "Deadlock after step 0: 18 processors wait and no message is in flight. 18 wait for "
            "one another in a cycle:",
            "processor 0 0,0, wrong.py:8: waits in recv since step 0 for a message from rank 1 "
            "with tag 4",
            "processor 11 3,2, wrong.py:8: waits in recv",
            ".. and 6 more",
        ],
    ),
    "a short cycle among others": (
        "if me in (7, 12):\n"
        "    comm.send(me, dest=19 - me)\n"
        "    comm.recv(source=19 - me)\n"
        "    comm.recv(source=19 - me)\n"
        "else: comm.recv(source=7)",
        [
            "18 processors wait and no message is in flight. 2 wait for one another in a cycle:",
            "processor 7 2,1, wrong.py:11: waits in recv since step 3 for a message from rank 12",
            "processor 12 4,0, wrong.py:11: waits in recv since step 3 for a message from rank 7",
        ],
    ),
    "a synchronous send to itself": (
        "if me == 4: comm.ssend('hello', dest=me)",
        [
            "1 processor waits and no message is in flight. 1 waits for itself:",
            "processor 4 1,1, wrong.py:8: waits in ssend since step 0 for rank 4 to receive its",
        ],
    ),
    "two synchronous sends that meet": (
        "if me < 2: comm.Ssend(bytearray(8), dest=1 - me)",
        [
            "2 wait for one another in a cycle:",
            "processor 0 0,0, wrong.py:8: waits in Ssend since step 0 for rank 1 to receive its",
        ],
    ),
    "a message that its sender has not sent": (
        "if me == 3: comm.recv(source=9, tag=5)",
        [
            "1 processor waits",
            "processor 3 1,0, wrong.py:8: waits in recv since step 0 for a message from rank 9 "
            "with tag 5 (processor 9 has ended)",
        ],
    ),
    "a wrong tag": (
        "if me == 0: comm.send('a', dest=1, tag=5)\nif me == 1: comm.recv(source=0, tag=6)",
        [
            "wrong.py:9: waits in recv since step 0 for a message from rank 0 with tag 6 "
            "(processor 0 has ended); 1 other message has arrived, the first from rank 0 with",
        ],
    ),
    "a receive from anybody when all others have ended": (
        "if me == 2: comm.recv()",
        [
            "processor 2 0,2, wrong.py:8: waits in recv since step 0 for a message from any rank "
            "(all 17 awaited processors have ended)"
        ],
    ),
    "collectives that do not match": (
        "if me == 0: comm.gather(me, root=1)\nelse: comm.bcast(None, root=0)\ncomm.barrier()",
        ["They call collectives that do not match:", "gather with root 1", "bcast with root 0"],
    ),
    "a barrier that one does not come to": (
        "if me != 5: comm.Barrier()",
        ["17 processors wait", "waits in Barrier", "(processor 5 has ended)"],
    ),
    "a request that nothing completes": (
        "requests = [comm.irecv(source=(me + k) % n, tag=k) for k in (1, 2, 3, 4, 5)]\n"
        "MPI.Request.waitany(requests)",
        [
            "wait for one another in a cycle:",
            "wrong.py:9: waits in waitany since step 0 for a message from rank 1 with tag 1 or a "
            "message from rank 2 with tag 2 or a message from rank 3 with tag 3 or 2 more",
        ],
    ),
    "a collective that was begun": (
        "if me: comm.Ibarrier().Wait()",
        ["17 processors wait", "waits in Wait", "for a message from rank"],
    ),
    "polling without end": (
        "while me == 6 and not comm.Iprobe(source=7): pass",
        [
            "Starvation after step 0: 1 processor waits and no message is in flight; 1 of them "
            "polls without success:",
            "processor 6 2,0, wrong.py:8: polls in Iprobe",
        ],
    ),
    "waiting for a time that does not come": (
        "while me == 6 and MPI.Wtime() >= 0: pass",
        ["Starvation after step 10", ": 1 processor waits", "wrong.py:8: polls in Wtime"],
    ),
    "a script that catches whatever ends it": (
        "while me == 6:\n    try: comm.recv(source=7)\n    except: pass",
        ["Deadlock after step 0: 1 processor waits", "wrong.py:9: waits in recv"],
    ),
    "testing without end": (
        "request = comm.irecv(source=(me + 1) % n)\nwhile not request.test()[0]: pass",
        ["Starvation after step 0: 18 processors wait", "wrong.py:9: polls in test"],
    ),
}

FAILING = {
    "an exception on one processor": (
        "print('before', me)\n"
        "def work():\n"
        "    if me == 17: raise ValueError('too hot')\n"
        "work()\n"
        "comm.recv(source=17)",
        [
            "Processor 17 5,2, after step 0, wrong.py:10 in work: ValueError: too hot\n"
            "Traceback (most recent call last):\n"
            '  File "wrong.py", line 11, in <module>\n'
            "    work()\n"
            '  File "wrong.py", line 10, in work\n',
        ],
    ),
    "an exception that a call raises": (
        "comm.send(1, dest=n)",
        ["Processor 0 0,0, after step 0, wrong.py:8 in <module>: Exception: MPI_ERR_RANK"],
    ),
    "an exception behind an exception": (
        "try: {}['key']\nexcept KeyError as error: raise RuntimeError('no key') from error",
        ["KeyError: 'key'\n\nThe above exception was the direct cause", "RuntimeError: no key"],
    ),
    "one-sided communication": (
        "MPI.Win.Allocate(8, comm=comm).Put(bytearray(1), n)",
        ["Processor 0 0,0, after step", "wrong.py:8 in <module>: Exception: MPI_ERR_RANK"],
    ),
    "what is refused": (
        "MPI.Register_datarep('mine', None, None, None)",
        ["Unsupported: MPI.Register_datarep"],
    ),
    "Abort": (
        "if me == 3: comm.Abort(3)\ncomm.recv(source=3)",
        ["Processor 3 1,0, after step 0, wrong.py:8 in <module>: the script aborts with status 3."],
    ),
    "an Abort that the script catches": (
        "try: comm.Abort(me)\nexcept: pass",
        ["Processor 0 0,0, after step 0, wrong.py:8 in <module>: the script aborts with status 0."],
    ),
    "sys.exit with a status": (
        "if me == 5: sys.exit(2)\ncomm.recv(source=3)",
        ["Processor 5 1,2, after step 0, wrong.py:8 in <module>: the script ends with status 2."],
    ),
    "sys.exit with words": (
        "if me == 5: sys.exit('no more')",
        ["wrong.py:8 in <module>: the script ends with the message 'no more'."],
    ),
    "os._exit": (
        "import os\nprint('before', me)\ncomm.barrier()\nif me == 5: os._exit(0)\ncomm.barrier()",
        ["wrong.py:11 in <module>: the script ends its process by os._exit(0) without"],
    ),
    "os._exit with a status": (
        "import os\nif me == 5: os._exit(5)\ncomm.recv(source=5)",
        ["Processor 5 1,2", "wrong.py:9 in <module>: the script ends its process by os._exit(5)"],
    ),
    "a message after Finalize": (
        "MPI.Finalize()\ncomm.send(1, dest=0)",
        ["Processor 0 0,0, after step 0, wrong.py:9 in <module>: MPI has been finalized"],
    ),
}

STATUS = {
    "Abort": 3,
    "an Abort that the script catches": 0,
    "sys.exit with a status": 2,
    "os._exit with a status": 5,
}
"""With what `mpirun` ends, too, where that is not 1."""


def mpinet(
    folder: Path, ranks: int, *words: str, network: str = "torus:6x3", program: str = "mpinet"
) -> subprocess.CompletedProcess[str]:
    """Run ``mpinet exec`` in a folder."""
    command = [CHECKOUT / "launch/run", "-n", str(ranks), program, "exec", "--on", network]
    return subprocess.run(
        [*command, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        env=os.environ,
    )


def result(folder: Path, ranks: int, *words: str, network: str = "torus:6x3") -> dict:
    """The document of a script that works."""
    done = mpinet(folder, ranks, "--json", *words, network=network)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.costly
@pytest.mark.parametrize(("ranks", "case"), in_turn_on([1, 3], [*STUCK, *FAILING]))
def test_a_script_that_cannot_go_on_says_why(tmp_path, ranks, case):
    script, said = {**STUCK, **FAILING}[case]
    (tmp_path / "wrong.py").write_text(f"{HEADING}{script}\n")
    done = mpinet(tmp_path, ranks, "wrong.py")
    assert done.returncode == STATUS.get(case, 1)
    assert all(words in done.stderr for words in said), done.stderr
    assert "site-packages" not in done.stderr and "mpinet/process" not in done.stderr


@pytest.mark.parametrize(
    ("ranks", "case"), in_turn_on([1, 3], ["os._exit", "an exception on one processor"])
)
def test_what_was_printed_before_an_error_is_shown_before_it(tmp_path, ranks, case):
    (tmp_path / "wrong.py").write_text(HEADING + FAILING[case][0])
    done = mpinet(tmp_path, ranks, "wrong.py")
    assert done.stdout == "".join(f"before {rank}\n" for rank in range(18))


CANNOT_RUN = [
    (["broken.py"], "broken.py is not valid Python: invalid syntax (broken.py, line 2)."),
    (["missing.py"], "missing.py cannot be read: No such file or directory."),
    (["/dev/zero"], "/dev/zero is a device, not a script file."),
    (["."], ". cannot be read: Is a directory."),
    (["deep.py"], "deep.py cannot be run: the code is nested too deeply."),
    (["latin.py"], "latin.py is not valid Python: (unicode error) 'utf-8' codec can't decode byte"),
    (["-c", "print('\udcff')"], "<string> is not valid Python: (unicode error) 'utf-8' codec"),
    (["-m", "no.such"], "-m no.such: no Python module of this name can be run."),
    (["-c", "1 +"], "<string> is not valid Python: invalid syntax (<string>, line 1)."),
    ([], "exec needs a script: give SCRIPT.py, -m MODULE or -c CODE."),
    (["--packet", "0", "broken.py"], "--packet is 1 byte or more, not 0."),
    (["--routing", "magic", "broken.py"], "no routing 'magic'"),
]


@pytest.mark.costly
@pytest.mark.parametrize(("ranks", "case"), in_turn_on([1, 3], CANNOT_RUN))
def test_what_cannot_be_run_gets_a_sentence_and_status_2(tmp_path, ranks, case):
    words, said = case
    (tmp_path / "broken.py").write_text("print('never')\nif else\n")
    (tmp_path / "deep.py").write_text("-" * 200_000 + "1\n")
    (tmp_path / "latin.py").write_bytes(b"'\xff'\n")
    done = mpinet(tmp_path, ranks, *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len([line for line in done.stderr.splitlines() if said in line]) == 1
    assert "Traceback" not in done.stderr


AS_UNDER_MPIRUN = """
'A script that looks at itself.'
import atexit, logging, os, pickle, sys, warnings
import beside
from mpi4py import MPI
comm = MPI.COMM_WORLD
me, n = comm.Get_rank(), comm.Get_size()

class Thing:
    pass

if __name__ == "__main__":
    print(me, n, sys.argv, __file__, __name__, __doc__, __package__, __spec__)
    print(me, os.path.basename(sys.path[0]), beside.VALUE, sys.modules["__main__"].me)
    things = comm.allgather(Thing())
    print(me, all(type(thing) is Thing for thing in things), pickle.dumps(Thing)[-8:])
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn("mild")
    print(me, [str(warning.message) for warning in caught])
    atexit.register(print, me, "ends first", flush=True)
    atexit.register(lambda: print(me, "sums up", comm.allreduce(me)))
    atexit.unregister(beside.never)
    sys.stdout.buffer.write(f"{me} in bytes\\n".encode())
    sys.stdout.writelines([f"{me} in ", "lines\\n"])
    sys.exit()
"""

BESIDE = """
import atexit
from mpi4py import MPI
VALUE = 7

@atexit.register
def at_end():
    print(MPI.COMM_WORLD.bcast("ends last", root=2))

@atexit.register
def never():
    print("never")
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_script_finds_what_it_finds_under_mpirun(tmp_path, ranks):
    (tmp_path / "script.py").write_text(AS_UNDER_MPIRUN)
    (tmp_path / "beside.py").write_text(BESIDE)
    words = ["script.py", "--on", "-x", "two words"]
    command = [CHECKOUT / "launch/run", "-n", "4", "python", *words]
    really = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=TIME_LIMIT
    )
    done = mpinet(tmp_path, ranks, *words, network="ring:4")
    output = done.stdout.partition("script.py on ring:4")[0]
    assert sorted(output.splitlines()) == sorted(really.stdout.splitlines())


def test_output_appears_by_processor_after_each_round(tmp_path):
    script = "\n".join(
        [
            "print('a', me)",
            "comm.Barrier()",
            "print('b', me, end=' ', flush=True)",
            "print('c', me)",
        ]
    )
    (tmp_path / "script.py").write_text(f"{HEADING}\n{script}\n")
    outputs = [mpinet(tmp_path, ranks, "script.py", network="complete:4") for ranks in (1, 2, 3)]
    assert len({done.stdout for done in outputs}) == 1
    lines = outputs[0].stdout.splitlines()
    assert lines[:4] == [f"a {rank}" for rank in range(4)]
    assert sorted(lines[4:8]) == [f"b {rank} c {rank}" for rank in range(4)]


def test_the_hash_of_the_output_is_that_of_what_is_printed(tmp_path):
    words = ["-c", "from mpi4py import MPI; print(MPI.COMM_WORLD.rank, 'ok')"]
    printed = "".join(f"{rank} ok\n" for rank in range(18))
    for ranks in (1, 3):
        found = result(tmp_path, ranks, *words)["result"]
        assert found["output_sha256"] == sha256(printed.encode()).hexdigest()


def test_nothing_can_be_read_from_the_standard_input(tmp_path):
    words = ["-c", "import sys; print(repr(sys.stdin.read())); input()"]
    done = mpinet(tmp_path, 1, *words, network="ring:3")
    assert (done.returncode, done.stdout) == (1, "''\n" * 3)
    assert "EOFError" in done.stderr


@ONE_OR_MORE
def test_a_module_of_a_package_can_be_run(tmp_path, ranks):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/__init__.py").write_text("from mpi4py import MPI\nNAME = 'tools'\n")
    (tmp_path / "tools/sums.py").write_text(
        "import sys\nfrom . import MPI, NAME\n"
        "print(NAME, __name__, __package__, MPI.COMM_WORLD.allreduce(1), *sys.argv[1:])\n"
    )
    (tmp_path / "tools/__main__.py").write_text("from tools import sums\n")
    done = mpinet(tmp_path, ranks, "-m", "tools.sums", "--json", "x", network="ring:4")
    assert done.stdout.startswith("tools __main__ tools 4 --json x\n" * 4), done.stderr
    assert "tools.sums:3" in done.stdout


@ONE_OR_MORE
def test_errors_of_scripts_in_json_mode_are_json(tmp_path, ranks):
    words = ["--json", "-c", "from mpi4py import MPI; MPI.COMM_WORLD.recv()"]
    answer = json.loads(mpinet(tmp_path, ranks, *words).stdout)
    assert answer["status"] == 1 and answer["error"].startswith("Deadlock after step 0: 18")


def test_the_costs_of_kinds_are_those_of_their_lines(tmp_path):
    script = "for turn in range(3):\n    comm.bcast(1)\n    comm.Barrier()\ncomm.bcast(2)\n"
    (tmp_path / "script.py").write_text(HEADING + script)
    found = result(tmp_path, 1, "script.py")["result"]
    for kind in found["kinds"]:
        lines = [one for one in found["calls"] if one["call"] == kind["call"]]
        for cost in ("calls", "messages", "hops", "bytes"):
            assert kind[cost] == sum(line[cost] for line in lines)
        assert max(line["steps"] for line in lines) <= kind["steps"] <= found["steps"]
    assert [kind["calls"] for kind in found["kinds"] if kind["call"] == "bcast"] == [4 * 18]
    for cost in ("messages", "hops", "bytes"):
        assert found[cost] == sum(kind[cost] for kind in found["kinds"])
    steps = [kind["steps"] for kind in found["kinds"]]
    assert steps == sorted(steps, reverse=True)


HIDDEN = """
import sys
from mpi4py import MPI
names = ["array", "llvmlite", "networkx", "numba", "numpy", "rich"]
sys.modules.update(dict.fromkeys(names))
print(MPI.COMM_WORLD.bcast("heard"))
MPI.COMM_WORLD.Barrier()
print([name for name in names if sys.modules[name] is not None])
try:
    import numba
except ImportError as error:
    print(error)
"""


@ONE_OR_MORE
def test_what_a_script_forbids_its_processors_to_import_the_emulator_still_finds(tmp_path, ranks):
    (tmp_path / "script.py").write_text(HIDDEN)
    for name in ("code", "numba", "queue", "rich", "statistics"):  # the emulator imports its own
        (tmp_path / f"{name}.py").write_text("raise ImportError('a file of the script')\n")
    done = mpinet(tmp_path, ranks, "--progress", "script.py", network="ring:4", program=REAL)
    output, _, _ = done.stdout.partition("script.py on ring:4")
    halted = "import of numba halted; None in sys.modules"
    assert sorted(output.splitlines()) == sorted(["heard", "[]", halted] * 4), done.stderr


STAND_IN = """
import sys, types
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    print([name for name in ("numba", "llvmlite") if name in sys.modules])
    sys.modules["numba"] = types.ModuleType("numba")
print(comm.bcast("heard"), sys.modules["numba"].__spec__)
"""


def test_a_scripts_stand_in_for_numba_stays_when_messages_move(tmp_path):
    (tmp_path / "script.py").write_text(STAND_IN)
    done = mpinet(tmp_path, 1, "script.py", network="hypercube:1", program=REAL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == ["[]", "heard None", "heard None"]


@ONE_OR_MORE
def test_a_scripts_own_file_called_numba_is_what_the_script_imports(tmp_path, ranks):
    (tmp_path / "numba.py").write_text("MINE = 'mine'\n")
    (tmp_path / "script.py").write_text(
        f"{HEADING}import numba\nprint(numba.MINE, comm.bcast(7))\n"
    )
    done = mpinet(tmp_path, ranks, "script.py", network="hypercube:3", program=REAL)
    output, _, _ = done.stdout.partition("script.py on hypercube:3")
    assert output.splitlines() == ["mine 7"] * 8, done.stderr


@pytest.mark.parametrize(
    ("ranks", "change"),
    in_turn_on([1, 3], ["os.dup2(os.open(os.devnull, os.O_WRONLY), k)", "os.close(k)"]),
)
def test_what_is_printed_is_not_lost_where_a_script_redirects_descriptors(tmp_path, ranks, change):
    change = f"for k in (1, 2): {change} if me == 0 else None"
    script = f"import os\nprint('before', me)\n{change}\ncomm.Barrier()\n"
    (tmp_path / "script.py").write_text(f"{HEADING}{script}print('behind', me)\n")
    done = mpinet(tmp_path, ranks, "script.py", network="ring:3")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sorted(lines[:6]) == sorted(
        f"{when} {k}" for when in ("before", "behind") for k in range(3)
    )
    assert lines[6] == "script.py on ring:3"
    (tmp_path / "script.py").write_text(f"{HEADING}{script}if me == 1: raise ValueError('bad')\n")
    done = mpinet(tmp_path, ranks, "script.py", network="ring:3")
    assert done.returncode == 1
    assert "Processor 1, after step" in done.stderr and "ValueError: bad" in done.stderr


@pytest.mark.parametrize("words", [["exec", "--on", "ring:3", "-c"], ["topologies"]])
def test_a_reader_that_has_seen_enough_ends_the_run_in_silence(words):
    """As behind ``| head``: the reader is gone before the first line is printed."""
    text = "from mpi4py import MPI\nfor k in range(9): print(k); MPI.COMM_WORLD.Barrier()"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [REAL, *words, *([text] if "-c" in words else [])],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@ONE_OR_MORE
def test_a_thread_that_waits_without_end_does_not_keep_a_failed_run_from_ending(tmp_path, ranks):
    script = """
import threading
threading.Thread(target=threading.Event().wait).start()
with __import__("concurrent.futures").futures.ThreadPoolExecutor(1) as pool:
    pool.submit(comm.bcast, me, n).result()
"""
    (tmp_path / "script.py").write_text(HEADING + script)
    done = mpinet(tmp_path, ranks, "script.py", network="ring:3")
    assert done.returncode == 1
    assert "MPI_ERR_ROOT" in done.stderr


WHERE = {
    "script.py": "import installed, beside, parts.half\nbeside.comm.bcast(1)\n",
    "beside.py": "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\ncomm.bcast(0)\n",
    "parts/half.py": "from mpi4py import MPI\ncomm = MPI.COMM_WORLD.Dup()\n",
}

INSTALLED = "from mpi4py import MPI\nMPI.COMM_WORLD.allreduce(1)\n"


@ONE_OR_MORE
def test_the_digest_of_a_script_is_the_same_wherever_it_lies(tmp_path, monkeypatch, ranks):
    for place in ("here", "there/deeper"):
        for name, text in WHERE.items():
            file = tmp_path / place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    documents = []
    for folder, name in [
        ("here", "script.py"),
        ("there", "deeper/script.py"),
        ("here", str(tmp_path / "there/deeper/script.py")),
        ("there/deeper", "../../here/script.py"),
    ]:
        library = tmp_path / f"library{len(documents)}"
        library.mkdir()
        (library / "installed.py").write_text(INSTALLED)
        monkeypatch.setenv("PYTHONPATH", str(library))
        documents.append(result(tmp_path / folder, ranks, name))
    assert len({document["digest"] for document in documents}) == 1
    found = documents[0]["result"]
    assert found["script"] == "script.py"
    files = {call["file"] for call in found["calls"]}
    assert files == {"script.py", "beside.py", "parts/half.py", "installed"}


def test_an_installed_module_that_is_run_is_called_by_its_name(tmp_path):
    found = result(tmp_path, 1, "-m", "mpinet.examples.mpi.pi", "10", network="ring:3")["result"]
    assert found["script"] == "mpinet.examples.mpi.pi"
    assert {call["file"] for call in found["calls"]} == {"mpinet.examples.mpi.pi"}
