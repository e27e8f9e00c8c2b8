"""Whatever is typed or read ends soon, in a result or in a sentence: no traceback, no hang.

The lines and files are drawn by `fuzz.lines` and `fuzz.graphs` from a seed, so that a finding comes
again. What was found is a test of its own beside the thing that was wrong.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from launch.fuzz import graphs, lines, worker

LINES, FILES, PART = 5000, 1500, 250
"""Command lines and graph files of the long test, and how many of them make one test."""

SAMPLE = 50
"""Lines, and files, of the ordinary test."""


def findings(commands: Iterable[list[str]], folder: Path) -> list[str]:
    """The lines that end in anything but a result or a sentence."""
    process = subprocess.Popen(
        [sys.executable, worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        text=True,
    )
    found = []
    with process:
        for words in commands:
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            status, out, err = json.loads(process.stdout.readline())
            wrong = what_is_wrong(words, status, out, err)
            if wrong:
                found.append(f"{words}: {wrong}\n{err[-2000:]}")
        process.stdin.close()
    return found


def what_is_wrong(words: list[str], status: int, out: str, err: str) -> str:
    """What is wrong with how a line ended; empty if nothing is."""
    if status == -9:
        return "takes too long"
    if status not in (0, 1, 2):
        return f"status {status}"
    if "Traceback" in err and not any("raise 5" in word for word in words):
        return "traceback"
    if "The memory has run out" in err:
        return "memory blows up"
    if status == 2 and not err.startswith("mpinet: "):
        return "no sentence"
    if status == 0 and "--json" in words and out and words[0] != "exec":
        json.loads(out)
    return ""


def command_lines(seed: int, count: int) -> Iterable[list[str]]:
    random = Random(seed)
    for _ in range(count):
        yield lines.line(random)


def graph_commands(seed: int, count: int, folder: Path) -> Iterable[list[str]]:
    random = Random(seed)
    for number in range(count):
        ending, text = graphs.graph_file(random)
        path = folder / f"graph{number}{ending}"
        path.write_bytes(text)
        yield [random.choice(worker.GRAPH_COMMANDS), f"graph:{path}"]


def test_a_sample_ends_in_results_or_sentences(tmp_path):
    sample = chain(command_lines(0, SAMPLE), graph_commands(0, SAMPLE, tmp_path))
    found = findings(sample, tmp_path)
    assert not found, "\n\n".join(found)


def test_what_is_neither_a_result_nor_a_sentence_is_found():
    told = "mpinet: Traceback (most recent call last):\n"
    assert what_is_wrong(["show"], 1, "", told) == "traceback"
    assert what_is_wrong(["show"], -9, "", "") == "takes too long"
    assert what_is_wrong(["show"], -11, "", "") == "status -11"
    assert what_is_wrong(["show"], 2, "", "usage") == "no sentence"
    assert what_is_wrong(["show"], 2, "", "mpinet: no.") == ""


@pytest.mark.long
@pytest.mark.parametrize("part", range(LINES // PART))
def test_command_lines_end_in_results_or_sentences(part, tmp_path):
    found = findings(command_lines(1000 + part, PART), tmp_path)
    assert not found, "\n\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("part", range(FILES // PART))
def test_graph_files_end_in_results_or_sentences(part, tmp_path):
    found = findings(graph_commands(2000 + part, PART, tmp_path), tmp_path)
    assert not found, "\n\n".join(found)
