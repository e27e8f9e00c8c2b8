"""A command's function and its command line are one: options, results, errors."""

import argparse
import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

import pytest

import mpinet
from mpinet.cli.commands import parse
from mpinet.cli.parser import add_options
from mpinet.cli.session import CommandSession
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS, FUNCTIONS
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Saved, Typed
from mpinet.commands.options import HostOptions
from mpinet.commands.result import Result
from mpinet.commands.signature import given, signature_of
from mpinet.errors import UsageError
from mpinet.jobs.perform import words
from mpinet.report.files import as_csv

FLOOD = "mpinet.examples.flood:flood"


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = argparse.ArgumentParser(prog=f"mpinet {command}")
    add_options(parser, function_of(command))
    return parser


@dataclass(frozen=True)
class OddOptions(HostOptions):
    """Do what no command does, with an option of every kind."""

    command = "odd"
    place: int
    """A `place` by number; 2 % of it."""
    rest: Sequence[str] = ()
    _: KW_ONLY
    choice: Literal["a", "b"] = "b"
    number: float | None = None
    """One that is read."""
    flag: bool = False
    maybe: bool | None = None
    several: Annotated[Sequence[str], Typed(metavar="WORD", varies=("number",))] = ()
    many: Annotated[str, Typed(several="1,2")] = ""


ODD = function_with(OddOptions, Result, Saved)


def test_a_parser_has_the_types_defaults_choices_and_help_of_its_function():
    parser = argparse.ArgumentParser()
    add_options(parser, ODD)
    typed = "3 --choice a --number 2.5 --flag --no-maybe --several x --several y --seed 4"
    found = vars(parser.parse_args([*typed.split(), "--memory-limit", "1KiB"]))
    assert found == {
        "place": 3, "rest": [], "choice": "a", "number": 2.5, "flag": True, "maybe": False,
        "several": ["x", "y"], "many": "", "seed": 4, "memory_limit": 1024, "mapping": "blocks",
        "force": False, "checkpoint": None, "time_limit": None,
        "given": {"choice", "number", "flag", "maybe", "seed", "memory_limit"},
    }  # fmt: skip
    shown = " ".join(parser.format_help().split())
    assert "a place by number; 2 % of it" in shown and "--choice {a,b}" in shown
    assert "--number NUMBER one that is read" in shown and "--several WORD" in shown
    assert "(default b)" in shown and "(default None)" not in shown


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("x", "'x' is not a whole number"),
        ("1 --number many", "'many' is not a number"),
        ("1 --choice c", "invalid choice: 'c'"),
        ("1 --memory-limit some", "some"),
        ("1 --seed -1", "whole number 0..2^63-1"),
        ("", "required: PLACE"),
        ("1 --seed 2 --seed 2", "--seed is given twice\n"),
        (
            "1 --many a --many b",
            "--many is given twice: several values are one word, as in --many 1,2",
        ),
        (
            "1 --number 1 --number 2",
            "--number is given twice: --several number=A --several number=B",
        ),
        ("1 --choice a --choice=b", "--choice is given twice"),
        ("1 --flag --flag", "--flag is given twice"),
        ("1 --maybe --no-maybe", "--no-maybe is given twice"),
    ],
)
def test_a_word_that_an_option_cannot_have_gets_a_sentence(typed, said, capsys):
    parser = argparse.ArgumentParser()
    add_options(parser, ODD)
    with pytest.raises(SystemExit):
        parser.parse_args(typed.split())
    assert said in capsys.readouterr().err


def test_options_of_the_launcher_may_be_given_several_times():
    typed = "--mca btl self --mca btl self -n 2 -n 3 broadcast ring:4 --root 1".split()
    assert parser_of("launch").parse_args(typed).words == typed


def test_the_help_of_a_function_has_what_it_shares_with_others_in_the_order_of_its_signature():
    names = list(inspect.signature(mpinet.flood).parameters)
    assert names[:3] == ["topology", "root", "ports"] and "record_steps" in names
    entries = re.findall(r"^(\w+) : ", mpinet.flood.__doc__, re.MULTILINE)
    assert entries == names
    assert mpinet.flood.__doc__.count("0..15,20") == 1
    assert inspect.signature(mpinet.flood).parameters["duplex"].default == "full"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_explained(command):
    said = signature_of(function_of(command))
    silent = [option.name for option in [*said.options, *said.alone] if not option.help]
    assert {"words", "progress_as", "checkpoint"}.issuperset(silent)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_typed_twice_for_one_command(command):
    words = [word for action in parser_of(command)._actions for word in action.option_strings]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("command", FUNCTIONS)
def test_a_function_of_the_package_is_that_of_the_command(command):
    assert function_of(command) is getattr(mpinet, command)


CALLS = {
    "route torus:8x8 --pairs transpose --seed 1": (
        ["torus:8x8"],
        {"pairs": "transpose", "seed": 1},
    ),
    "route ring:6 --no-loads": ([mpinet.open("ring:6")], {"loads": False}),
    "broadcast ring:6 --root 2 --schedule": (["ring:6"], {"root": 2, "schedule": True}),
    "descend ring:8 --operator sum": (["ring:8"], {"operator": "sum"}),
    "embed ring:4 ring:4 --images 1,2,3,0": (["ring:4", "ring:4"], {"images": [1, 2, 3, 0]}),
    "path torus:3x4 1,0 3": (["torus:3x4", "1,0", 3], {}),
    f"run {FLOOD} --on ring:4 --arg 2": ([FLOOD, "ring:4"], {"arguments": ["2"]}),
    "gather ring:6 --mapping random": (["ring:6"], {"mapping": "random"}),
    "topologies": ([], {}),
    "compare ring:4 ring:6 --only degree": ([["ring:4", "ring:6"]], {"only": "degree"}),
}


@pytest.mark.parametrize("typed", CALLS)
def test_a_call_gives_the_document_and_the_rows_of_what_is_typed(typed, capsys, tmp_path):
    arguments, options = CALLS[typed]
    found = function_of(typed.split()[0])(*arguments, **options)
    assert CommandSession([*typed.split(), "--json", "--out", f"{tmp_path}/rows.csv"]).run() == 0
    printed = json.loads(capsys.readouterr().out)
    document = json.loads(json.dumps(found.document()))
    differing = dict.fromkeys(("seconds", "made", "command"))
    assert document | differing == printed | differing
    assert set(document["made"]) == set(printed["made"])
    assert parse(document["command"][1:]) == parse(typed.split())
    assert as_csv(found.records()) == (tmp_path / "rows.csv").read_bytes().decode()


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("optimum gossip ring:4 --ports all", {"collective": "gossip", "ports": "all"}),
        ("exec --on ring:4 a.py 1 2", {"script": "a.py", "arguments": ["1", "2"]}),
        ("plot a.csv b.csv --x rate --where a=1 --where b=2", {
            "results": ["a.csv", "b.csv"], "x": "rate", "where": ["a=1", "b=2"],
        }),
        ("draw ring:4 --path 0 1 --path 1 2", {"path": [[0, 1], ["1", 2]]}),
        ("embed ring:4 ring:4 --images 1,2,3,0", {"guest": "ring:4", "images": [1, 2, 3, 0]}),
        ("schedule export gossip ring:4 --out g.csv", {"collective": "gossip", "out": "g.csv"}),
    ],
)  # fmt: skip
def test_what_python_gives_is_typed_as_the_command_line_takes_it(typed, options):
    first, *rest = typed.split()
    function = function_of(f"{first} {rest[0]}" if first == "schedule" else first)
    named = {"topology": "ring:4"} if first != "plot" else {}
    assert " ".join(words(function, given(function, named | options))) == typed
    parse(typed.split())


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        (
            "route",
            {"topology": "ring:6", "pairs": 5},
            "pairs is text or a list (a list each), not 5",
        ),
        ("route", {"topology": "ring:6", "ports": "two"}, "ports is one or all, not 'two'"),
        ("route", {"topology": "tors:6"}, "did you mean torus"),
        ("route", {"topology": "ring:6", "seed": -1}, "0..2^63-1, not -1"),
        ("route", {"topology": "ring:6", "seed": True}, "seed is a whole number, not True"),
        ("gossip", {"topology": "mesh:3x3", "algorithm": "cycle"}, "no gossip 'cycle'"),
        ("flood", {"topology": "ring:6", "ports": "one"}, "--ports one does not apply"),
        ("ascend", {"topology": "ring:6", "down": True}, "option 'down': call mpinet.descend."),
        ("show", {"topology": "ring:6", "node": 1}, "option 'node': call mpinet.neighbors."),
        ("broadcast", {"topology": "ring:6", "root": 9}, "Node 9 is not in ring:6"),
    ],
)
def test_a_wrong_value_raises_one_sentence(command, options, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        function_of(command)(**options)


def test_fields_of_a_result_are_attributes_and_a_wrong_name_lists_them():
    found = mpinet.route("ring:6", pairs="hotspot:0")
    assert found.delivered == found.value["delivered"] == 5
    assert found.latency.max == found.records()[0]["latency.max"]
    with pytest.raises(AttributeError, match="the fields are messages, delivered"):
        found.deliverd  # noqa: B018


def test_a_result_in_a_notebook_tells_what_was_run_and_escapes_it():
    def odd(node):
        return ["<b>"]

    found = mpinet.run(odd, "ring:3")
    page = found._repr_html_()
    assert "--on ring:3" in page and found.digest in page
    assert "<b>&lt;b&gt;" not in page and "&lt;" in page


def test_a_command_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="There is no command 'fly'"):
        function_of("fly")
