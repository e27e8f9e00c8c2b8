"""Options are in groups: the help and the page of a command show the same ones."""

import re
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from mpinet.cli.commands import parse
from mpinet.cli.parser import grouped
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS
from mpinet.commands.optionrecords import GROUPS
from mpinet.commands.signature import signature_of

EXTENSIONS = Path(__file__).parents[3] / "docs" / "_extensions"

MANY = 12
"""Most options of a command without groups, and most options of a group."""

DESCRIBED = [name for name in COMMANDS if name not in ("launch", "predict")]
"""Commands whose help describes all of their options: not of a script or another command."""


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("sphinx")
    monkeypatch.setattr(sys, "path", [str(EXTENSIONS), *sys.path])
    import commandpages

    return commandpages


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_of_a_command_with_many_options_has_a_group(command):
    groups = grouped(signature_of(function_of(command)))
    assert all(len(options) <= MANY for options in groups.values())
    if sum(map(len, groups.values())) > MANY:
        assert [option.name for option in groups.get("", []) if option.words] == []


def test_titles_of_groups_are_declared_once():
    titles = [title for name in COMMANDS for title in grouped(signature_of(function_of(name)))]
    assert {*GROUPS} <= {*titles}
    ordered = [title for title in GROUPS if title in titles]
    assert all(GROUPS.index(one) < GROUPS.index(two) for one, two in pairwise(ordered))


def first(term: str) -> str:
    """Return the first choice of a positional word; other terms stay as they are."""
    return re.split("[,|]", term.strip("{}"))[0]


def in_help(command: str, capsys: pytest.CaptureFixture) -> dict[str, list[str]]:
    """Return the first words of the options in a command's help, by title."""
    with pytest.raises(SystemExit):
        parse([*command.split(), "--help"])
    found: dict[str, list[str]] = {}
    for part in capsys.readouterr().out.split("\n\n"):
        title, *lines = part.splitlines()
        if title.endswith(":") and not title.startswith("usage"):
            terms = re.findall(r"^  ([^\s,]+)", "\n".join(lines), re.MULTILINE)
            found[title[:-1]] = [first(term) for term in terms if term != "-h"]
    return {title: terms for title, terms in found.items() if terms}


def in_page(text: str) -> dict[str, list[str]]:
    """Return the first words of the options on a command's page, by title."""
    _, _, rest = text.partition("\n## Options\n")
    found: dict[str, list[str]] = {}
    for part in re.split(r"\n### ", rest.partition("\n## ")[0]):
        title = part.split("\n")[0].lower() if not part.startswith("\n") else ""
        found[title] = [*map(first, re.findall(r"^`([^`\s]+)[^`]*`.*\n: ", part, re.MULTILINE))]
    return {title: terms for title, terms in found.items() if terms}


@pytest.mark.parametrize("command", DESCRIBED)
def test_page_and_help_have_the_same_groups(command, capsys, pages):
    shown = in_help(command, capsys)
    plain = [*shown.pop("positional arguments", []), *shown.pop("options", [])]
    expected = ({"": plain} if plain else {}) | shown
    assert in_page(pages.page_of(command, [], ["", ""])) == expected


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_begins_with_two_examples_and_has_no_table_of_options(command, pages):
    text = pages.page_of(command, [], ["first\nsecond", ""])
    assert f"\n# mpinet {command}\n" in text
    first, second = pages.examples_of(command)
    blocks = re.findall(
        r"\n```\{code-block\} text\n:class: example\n\n(.*?)\n```\n", text, re.DOTALL
    )
    assert blocks == [f"$ {first}\nfirst\nsecond", f"$ {second}"]
    assert not re.search(r"^\|", text.partition("## Result")[0], re.MULTILINE)
    assert re.search(r"Tutorial: \{doc\}`/tutorials/", text)


def test_the_output_of_an_example_is_that_of_the_command(pages):
    import commandexamples

    first, second = commandexamples.run(commandexamples.job_of("flood"))
    assert first.startswith("flood of torus:8x8 from 0\nsteps           8\n")
    assert second.startswith("flood of hypercube:6 from 5\n")
    assert commandexamples.run(commandexamples.job_of("resume")) == ["", ""]


def test_a_page_names_the_tutorial_that_uses_the_command_most(pages):
    assert "Tutorial: {doc}`/tutorials/" in pages.page_of("load", pages.users_of("load"), ["", ""])
