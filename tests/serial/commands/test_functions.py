"""A command's function and its command line are one: options, results, errors."""

import argparse
import inspect
import json
import re
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import mpinet
from mpinet.cli.commands import COMMANDS, Parser, module_of, parse
from mpinet.cli.session import Session
from mpinet.commands import function_of
from mpinet.errors import UsageError
from mpinet.report.files import as_csv

FLOOD = "mpinet.examples.flood:flood"

OF_TYPING = {
    *("json", "out", "progress", "help", "seed", "command", "draw", "play", "trace"),
    *("checkpoint", "every", "watchdog"),
}
"""What is of the command line alone, and seed, which every command takes there."""

SCRIPTS = {"script", "module", "code", "arguments"}
"""What is run: the command line takes the rest of its words for it."""

TYPED_ALONE = {
    *("check", "verify", "predict", "bench", "launch", "template", "doctor", "demo", "measure"),
    *("trace", "play", "certify", "schedule", "resume"),
}
"""Commands without a function of `mpinet`: ``check`` is older and takes a topology, ``measure`` is
the room of all measures."""


def functions() -> list[str]:
    return sorted(set(COMMANDS) - TYPED_ALONE)


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = Parser(prog=command)
    module_of(command).add_options(parser)
    return parser


def choices(hint: object) -> set[str] | None:
    """The values that a parameter's type lists."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    of_parts = [choices(part) for part in get_args(hint)]
    return next((found for found in of_parts if found), None)


@pytest.mark.parametrize("command", functions())
def test_a_function_has_the_options_of_its_command_with_their_defaults_and_choices(command):
    function = function_of(command)
    assert function is getattr(mpinet, command)
    parameters, hints = inspect.signature(function).parameters, get_type_hints(function)
    actions = {action.dest: action for action in parser_of(command)._actions}
    assert set(actions) - OF_TYPING - SCRIPTS == set(parameters) - {"seed"} - SCRIPTS
    for name in set(parameters) - SCRIPTS:
        action, parameter = actions[name], parameters[name]
        if parameter.default is parameter.empty:
            assert action.required
        else:
            assert str(action.default) == str(parameter.default)
        listed = choices(hints[name])
        assert (set(action.choices) if action.choices else None) == listed or name == "algorithm"


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
}


@pytest.mark.parametrize("typed", CALLS)
def test_a_call_gives_the_document_and_the_rows_of_what_is_typed(typed, capsys, tmp_path):
    arguments, options = CALLS[typed]
    found = function_of(typed.split()[0])(*arguments, **options)
    assert Session([*typed.split(), "--json", "--out", f"{tmp_path}/rows.csv"]).run() == 0
    printed = json.loads(capsys.readouterr().out)
    document = json.loads(json.dumps(found.document()))
    differing = dict.fromkeys(("seconds", "made", "command"))
    assert document | differing == printed | differing
    assert set(document["made"]) == set(printed["made"])
    assert parse(document["command"][1:]) == parse(typed.split())
    assert as_csv(found.records()) == (tmp_path / "rows.csv").read_bytes().decode()


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("route", {"topology": "ring:6", "pairs": 5}, "pairs is text, not 5"),
        ("route", {"topology": "ring:6", "ports": "two"}, "ports is one or all, not 'two'"),
        ("route", {"topology": "tors:6"}, "did you mean torus"),
        ("route", {"topology": "ring:6", "seed": -1}, "0..2^63-1, not -1"),
        ("route", {"topology": "ring:6", "seed": True}, "seed is a whole number, not True"),
        ("gossip", {"topology": "mesh:3x3", "algorithm": "cycle"}, "no gossip 'cycle'"),
        ("flood", {"topology": "ring:6", "ports": "one"}, "--ports one does not apply"),
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
    with pytest.raises(AttributeError, match="there are messages, delivered"):
        found.deliverd  # noqa: B018


def test_a_result_in_a_notebook_tells_what_was_run_and_escapes_it():
    def odd(node):
        return ["<b>"]

    found = mpinet.run(odd, "ring:3")
    page = found._repr_html_()
    assert "--on ring:3" in page and found.digest in page
    assert "<b>&lt;b&gt;" not in page and "&lt;" in page


def test_a_command_without_a_function_is_refused():
    with pytest.raises(UsageError, match="no function for a command 'bench'"):
        function_of("bench")
