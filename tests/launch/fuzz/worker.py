"""Runs command lines, one after the other, each in a child of its own with limits.

Reads lines of JSON, each a list of words, from the standard input, and answers each with a line:
status (negative: the signal that ended it), standard output, standard error.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import mpinet.cli.session
from mpinet.cli import main

sys.path.append(str(Path(__file__).parents[2]))
import forked

GRAPH_COMMANDS = ["show", "check", "flood", "route", "broadcast"]

MEMORY = 6 << 30  # bytes of address space
SECONDS = 60  # of computing; most lines take a tenth of one
PATIENCE = 5 * SECONDS  # of wall time, for lines that wait
LONG_RUNS = range(1 << 14, 1 << 34)  # ports of networks that are a day's work and no mistake
LONG_PAIRS = range(1 << 10, 1 << 34)  # the same for commands whose work grows with all pairs
PAIRED = {"exchange", "gossip", "exec", "scatter", "gather", "embed"}
NOT_RUN = 75  # exit status

WARMING = [
    "broadcast hypercube:3 --root 1",
    "ascend hypercube:3 --operator sum",
    *(f"{command} graph:{{folder}}/two.edges" for command in GRAPH_COMMANDS),
]
"""What is compiled or loaded once, for all children."""


def too_long(words: list[str]) -> bool:
    """Whether a line asks for what is allowed and takes its time."""
    long = LONG_PAIRS if PAIRED.intersection(words[:1]) or "all" in words else LONG_RUNS
    for word in words:
        for text in (word, *word.split("*")):
            try:
                topology = mpinet.open(text)
            except Exception:
                continue
            if topology.size * max(topology.ports, 1) in long:
                return True
    return False


def child(words: list[str], out: int, err: int) -> None:
    """Run a line; does not return."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    os.dup2(out, 1)
    os.dup2(err, 2)
    if too_long(words):
        os._exit(NOT_RUN)
    status = 70
    try:
        main(words)
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.stdout.flush()
        os._exit(status)


def run(words: list[str]) -> tuple[int, str, str]:
    """A line's status and what it has printed; it is killed when its time is over."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = os.fork()
        if process == 0:
            child(words, out.fileno(), err.fileno())
        while True:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - began > PATIENCE:
                os.kill(process, signal.SIGKILL)
                _, status = os.waitpid(process, 0)
                break
            time.sleep(0.002)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return os.waitstatus_to_exitcode(status), *texts


def serve() -> None:
    """Answer all lines."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    forked.warm()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "two.edges").write_text("0 1\n1 2\n")
        for line in WARMING:
            mpinet.cli.session.CommandSession(line.format(folder=folder).split()).run()
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
