"""A command's options are one frozen record: its fields are help, parser and function."""

import inspect
from dataclasses import KW_ONLY, FrozenInstanceError, dataclass, fields, replace

import pytest

import mpinet
from mpinet.cli.commands import parse
from mpinet.commands import function_of
from mpinet.commands.broadcast import BroadcastOptions
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import PYTHON, UNTYPED, CommandLine, Saved, with_values
from mpinet.commands.options import HostOptions
from mpinet.commands.result import Result
from mpinet.commands.signature import given, sentences, signature_of
from mpinet.errors import UsageError

RECORDS = ("broadcast", "replay", "tune", "flood", "route", "load", "show", "gossip")


@dataclass(frozen=True)
class OddOptions(HostOptions):
    """Do what no command does."""

    command = "odd"
    place: int
    """Place by its number."""
    _: KW_ONLY
    words: tuple[str, ...] = ()
    """Words in a
    row."""
    number: float | None = None


def test_a_sentence_below_a_field_is_the_help_of_the_option_and_of_the_function():
    assert sentences(OddOptions) == {"place": "Place by its number.", "words": "Words in a row."}
    odd = function_with(OddOptions, Result, Saved)
    assert list(inspect.signature(odd).parameters)[:3] == ["place", "words", "number"]
    assert "words : tuple\n    Words in a row.\n" in odd.__doc__
    said = signature_of(odd)
    assert [option.name for option in said.alone] == ["time_limit", "checkpoint"]
    assert {option.heading for option in said.options} == {"", "hosts"}


@pytest.mark.parametrize("command", RECORDS)
def test_what_is_typed_and_what_python_gives_are_one_record(command):
    function = function_of(command)
    kind, first = signature_of(function).record, signature_of(function).options[0]
    values = {first.name: "broadcast", "seed": 3}
    typed, called = parse([command, "broadcast", "--seed", "3"]), given(function, values)
    assert type(typed) is type(called) is kind
    assert called.line is PYTHON and isinstance(typed.line, CommandLine)
    assert replace(typed, **{first.name: "broadcast"}, line=PYTHON) == called


def test_options_cannot_be_changed_and_another_value_makes_other_options():
    options = parse(["broadcast", "ring:6", "--draw", "run.svg"])
    with pytest.raises(FrozenInstanceError):
        options.root = 1
    other = with_values(options, {"root": 1, "draw": None})
    assert (options.root, str(options.line.draw)) == (0, "run.svg")
    assert (other.root, other.line.draw) == (1, None)


def test_python_has_no_options_of_the_command_line():
    names = inspect.signature(mpinet.broadcast).parameters
    assert {one.name for one in fields(BroadcastOptions)} - {*UNTYPED} == set(names)
    for name in ("line", "draw", "json", "checkpoint"):
        with pytest.raises(UsageError, match=f"broadcast has no option '{name}'"):
            mpinet.broadcast("ring:6", **{name: None})
    with pytest.raises(TypeError, match="takes 1 positional arguments"):
        mpinet.broadcast("ring:6", 5)
