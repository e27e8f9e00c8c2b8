"""The transcript of the artifact page shows each command of the page, and each one succeeded."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs/artifact.md").read_text()
TRANSCRIPT = (CHECKOUT / "docs/artifact.txt").read_text()
COMMANDS = re.findall(r"(?m)^\|[^|]+\| `([^`]+)` \|[^|]+\|[^|]+\|$", PAGE)
ENDED = re.compile(r"(?m)^\[status (\d+), \d+ s\]$")


def parts(transcript: str) -> dict[str, str]:
    """The text after each command that an unprivileged user ran, with the status at its end."""
    found = re.findall(r"(?ms)^\$ ([^\n]+)\n(.*?^\[status \d+, \d+ s\])$", transcript)
    return dict(found)


def test_each_command_of_the_page_was_run_once_and_succeeded() -> None:
    shown = parts(TRANSCRIPT)
    assert len(COMMANDS) > 5
    small = [f"{each} --size small" if each == "mpinet bench" else each for each in COMMANDS]
    assert [*shown] in (["launch/setup", *COMMANDS], ["launch/setup", *small])
    assert ("--size small`), because" in PAGE) == ([*shown][-1] == small[-1])
    assert {command: ENDED.findall(text) for command, text in shown.items()} == {
        command: ["0"] for command in shown
    }


def test_the_outputs_are_those_that_the_page_expects() -> None:
    shown = parts(TRANSCRIPT)
    expected = dict(re.findall(r"(?m)^\|[^|]+\| `([^`]+)` \| `([^`]+)`", PAGE))
    assert len(expected) >= 2
    assert [command for command, text in expected.items() if text not in shown[command]] == []
    assert shown["launch/demo"].count("  yes\n") == 4


@pytest.mark.parametrize("place", [r"/work\b", r"/tmp\b", r"/root\b", r"\w+@\w+", str(CHECKOUT)])
def test_the_transcript_names_no_place_of_the_host(place: str) -> None:
    assert not re.search(place, TRANSCRIPT)


def test_the_page_names_the_debian_packages_that_the_transcript_installs() -> None:
    (packages,) = re.findall(r"`apt-get install --no-install-recommends ([^`]+)`", PAGE)
    assert re.search(rf"(?m)^# .*--no-install-recommends {packages}\b", TRANSCRIPT)
