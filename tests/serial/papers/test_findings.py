"""The main findings are what their commands print, number by number."""

import re
import shlex

import pytest

from mpinet.claims.ledger import PAPERS, paper
from mpinet.cli.session import CommandSession

FINDINGS = sorted(
    (found for room in PAPERS for found in paper(room).findings), key=lambda found: found.number
)
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")


def test_there_are_ten_main_findings():
    assert [found.number for found in FINDINGS] == list(range(1, 11))


@pytest.mark.parametrize("found", FINDINGS, ids=lambda found: f"{found.number} {found.claims[0]}")
def test_a_finding_is_what_its_command_prints(found, capsys):
    for command in found.command.split(" && "):
        program, *words = shlex.split(command)
        assert program == "mpinet"
        assert CommandSession(words).run() == ("printed" in words)  # which is incomplete
    said = capsys.readouterr()
    text = re.sub(r"\s+", " ", said.out + said.err)
    rest = text
    for piece in found.prints:
        assert piece in rest
        rest = rest.partition(piece)[2]
    if command.startswith("mpinet verify"):
        assert "1 refuted" in text
    shown = set(re.findall(r"\d+(?:\.\d+)?", text))
    assert set(NUMBER.findall(found.text)) <= shown
