"""Schedules from Python: the options, the document and the errors of the command."""

import json

import pytest

import mpinet
from mpinet import schedule
from mpinet.cli.commands import parse
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError


def test_a_call_gives_the_document_of_what_is_typed(tmp_path, capsys):
    file = f"{tmp_path}/p.csv"
    calls = {
        f"schedule export gossip petersen --algorithm rarest --ports all --out {file}": (
            lambda: schedule.export("gossip", "petersen", algorithm="rarest", ports="all", out=file)
        ),
        f"schedule run {file} --on petersen": lambda: schedule.run(file, "petersen"),
        f"schedule check {file} --on petersen --mapping random": (
            lambda: schedule.check(file, mpinet.open("petersen"), mapping="random")
        ),
    }
    for typed, call in calls.items():
        found = call()
        assert CommandSession([*typed.split(), "--json"]).run() == 0
        printed = json.loads(capsys.readouterr().out)
        assert found.digest == printed["digest"] and found.value == printed["result"]
        assert parse(found.document()["command"][1:]) == parse(typed.split())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda file: schedule.run(file, "mesh:3"),
            "the schedule is for 8 processors, and mesh:3 has 3",
        ),
        (lambda file: schedule.run(file, "hypercube:3"), "sends to 2, and hypercube:3 has no such"),
        (lambda file: schedule.check(file, "ring:8", chunks=0), "--chunks is a whole number 1"),
        (lambda file: schedule.run(file, "ring:8", route=1), "route is true or false, not 1"),
        (lambda file: schedule.export("shout", "ring:8", out=file), "collective is broadcast or"),
        (lambda file: schedule.export("gossip", "ring:8", out="a.b"), "the file name must end in"),
    ],
)
def test_a_wrong_value_raises_one_sentence(call, said, tmp_path):
    file = tmp_path / "ring8.xml"
    schedule.export("gossip", "ring:8", out=file)
    with pytest.raises(UsageError, match=said):
        call(file)
