"""Whatever is typed or read ends soon, in a result or in a sentence: no traceback, no hang.

The lines and files are drawn by `fuzz.lines` and `fuzz.graphs` from a seed, so that a finding comes
again. What was found is a test of its own beside the thing that was wrong.
"""

import json
import os
import re
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

SAMPLE = 8
"""Lines, and files, of the ordinary test."""

EACH = 4 if os.environ.get("MPINET_LONG") else 1
"""Lines of each command that are meant to be right."""


def findings(commands: Iterable[list[str]], folder: Path) -> tuple[list[str], float]:
    """The lines that end in anything but a result or a sentence; the share that have a result."""
    for name, text in lines.FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    process = subprocess.Popen(
        [sys.executable, worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        text=True,
    )
    found, ran, results = [], 0, 0
    with process:
        for words in commands:
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            status, out, err = json.loads(process.stdout.readline())
            if status == worker.NOT_RUN:
                continue
            ran, results = ran + 1, results + (status == 0)
            wrong = what_is_wrong(words, status, out, err)
            if wrong:
                found.append(f"{words}: {wrong}\n{err[-2000:]}")
        process.stdin.close()
    return found, results / max(ran, 1)


def what_is_wrong(words: list[str], status: int, out: str, err: str) -> str:
    """What is wrong with how a line ended; empty if nothing is."""
    if status == -9:
        return "takes too long"
    if status not in (0, 1, 2):
        return f"status {status}"
    if words[:1] == ["exec"] and status == 1:
        return ""  # what a script has written, its traceback too, is its own
    if "Traceback" in err:
        return "traceback"
    if "The memory has run out" in err:
        return "memory blows up"
    if status and not re.match(r"mpinet( launch)?: ", err) and not out:
        return "no sentence"
    if err.count("mpinet: ") > 1 and status == 2:
        return "more than one sentence"
    if status == 0 and "--json" in words and words[0] != "exec":
        return "no JSON" if not is_json(out) else ""
    return ""


def is_json(text: str) -> bool:
    """Whether a text is one JSON document, or nothing (``--help``)."""
    try:
        return not text or json.loads(text) is not None
    except ValueError:
        return False


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
    found, _ = findings(sample, tmp_path)
    assert not found, "\n\n".join(found)


def test_most_lines_that_are_meant_to_be_right_have_a_result(tmp_path):
    """Not all of them: some ask a network for what it does not have."""
    random = Random(0)
    right = [lines.right(random, command) for command in lines.COMMANDS for _ in range(EACH)]
    found, results = findings(right, tmp_path)
    assert not found, "\n\n".join(found)
    assert results > 0.5


def test_what_is_neither_a_result_nor_a_sentence_is_found():
    told = "mpinet: Traceback (most recent call last):\n"
    assert what_is_wrong(["show"], 1, "", told) == "traceback"
    assert what_is_wrong(["show"], -9, "", "") == "takes too long"
    assert what_is_wrong(["show"], -11, "", "") == "status -11"
    assert what_is_wrong(["show"], 2, "", "usage") == "no sentence"
    assert what_is_wrong(["show"], 1, "", "") == "no sentence"
    assert what_is_wrong(["show"], 2, "", "mpinet: no.\nmpinet: no.") == "more than one sentence"
    assert what_is_wrong(["show", "--json"], 0, "{", "") == "no JSON"
    assert what_is_wrong(["show", "--json"], 0, "{}", "") == ""
    assert what_is_wrong(["show"], 2, "", "mpinet: no.") == ""


@pytest.mark.long
@pytest.mark.parametrize("part", range(LINES // PART))
def test_command_lines_end_in_results_or_sentences(part, tmp_path):
    found, results = findings(command_lines(1000 + part, PART), tmp_path)
    assert not found, "\n\n".join(found)
    assert results >= lines.FEWEST_VALID


@pytest.mark.long
@pytest.mark.parametrize("part", range(FILES // PART))
def test_graph_files_end_in_results_or_sentences(part, tmp_path):
    found, _ = findings(graph_commands(2000 + part, PART, tmp_path), tmp_path)
    assert not found, "\n\n".join(found)
