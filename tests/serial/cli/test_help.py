"""What helps who types: examples, groups, other names, and sentences on what was meant."""

import json
import re
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import mpinet
from mpinet.cli.commands import parse
from mpinet.cli.help import examples, first_example
from mpinet.cli.session import CommandSession
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS, GROUPS, SYNONYMS, UNLISTED

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[3] / "docs/reference/document.schema.json").read_text())
)


def shown(typed: str, capsys: pytest.CaptureFixture) -> str:
    """What a command line that asks for help prints."""
    with pytest.raises(SystemExit) as ended:
        parse(typed.split())
    assert not ended.value.code
    text: str = capsys.readouterr().out
    return text


def refused(typed: str, capsys: pytest.CaptureFixture) -> str:
    """The sentence that a wrong command line gets."""
    assert CommandSession(shlex.split(typed)).run() == 2
    text: str = capsys.readouterr().err
    assert text.count("\n") == 1
    return text.removeprefix("mpinet: ").rstrip()


def test_every_command_has_two_examples_that_it_takes():
    for command in COMMANDS:
        lines = examples(function_of(command).__doc__ or "")
        assert len(lines) == 2, command
        assert any(line.startswith(f"mpinet {command}") for line in lines)
        for line in lines:
            assert parse(shlex.split(line)[1:]).command in COMMANDS


def test_the_list_of_commands_has_each_once_in_its_group_with_a_first_command(capsys):
    text = shown("--help", capsys)
    rows = re.findall(r"^  ([a-z]+) +[a-z]", text, re.MULTILINE)
    words = [name.split()[0] for group in GROUPS.values() for name in group]
    assert rows == list(dict.fromkeys(words)) and not set(rows) & set(UNLISTED)
    for title, group in GROUPS.items():
        first = next(iter(group))
        assert f"\n{title} ({examples(function_of(first).__doc__)[0]}):\n" in text
    assert all(len(line) <= 98 for line in text.splitlines())


def test_a_first_example_is_read_without_its_module():
    assert first_example("schedule export").startswith("mpinet schedule export ")
    assert first_example("launch") == "mpinet launch -n 4 broadcast torus:8x8x8"


@pytest.mark.parametrize("typed", ["broadcast --help", "help broadcast", "bcast --help"])
def test_a_help_begins_with_examples_and_ends_with_the_names_of_common_options(typed, capsys):
    text = shown(typed, capsys)
    lines = text.splitlines()
    assert lines[2:4] == [f"  {line}" for line in examples(mpinet.broadcast.__doc__)]
    _, found, end = text.partition("\n\ncommon options (mpinet help common): ")
    assert found and "\n\n" not in end and "--json" in end and "--memory-limit" in end
    assert not [line for line in lines if line.startswith("  --json")]
    assert [line for line in lines if line.startswith("  --schedule")]


def test_common_options_are_told_on_one_page(capsys):
    text = shown("help common", capsys)
    for option in ("--json", "--seed SEED", "--checkpoint FOLDER", "--record FILE", "--play"):
        assert re.search(rf"^  {option}", text, re.MULTILINE)
    assert "progress-as" not in text


@pytest.mark.parametrize("name", SYNONYMS)
def test_names_of_mpi_are_the_same_commands_and_functions(name):
    assert getattr(mpinet, name) is getattr(mpinet, SYNONYMS[name])
    assert parse([name, "ring:6"]) == parse([SYNONYMS[name], "ring:6"])


def test_names_of_mpi_are_choices_too():
    assert parse(["schedule", "export", "allgather", "ring:6", "--out", "a.csv"]).collective == (
        "gossip"
    )
    assert mpinet.optimum("ring:4", collective="allgather").collective == "gossip"


FORMS = [
    ("show torus:3x4 --node 1,0", "neighbors torus:3x4 1,0"),
    ("show --node=4 torus:3x4 --out ports.csv", "neighbors torus:3x4 --out ports.csv 4"),
    ("route torus:3x4 0 5", "path torus:3x4 0 5"),
    ("route torus:3x4 0 --seed 3 2,1", "path torus:3x4 0 --seed 3 2,1"),
    ("route --seed 3 torus:3x4 --json 0 2,1", "path --seed 3 torus:3x4 --json 0 2,1"),
    (
        "ascend hypercube:3 --down --operator bitonic-merge --seed 3",
        "descend hypercube:3 --operator bitonic-merge --seed 3",
    ),
    (
        "predict ascend hypercube:3 --operator sum --ranks 2 --down",
        "predict descend hypercube:3 --operator sum --ranks 2",
    ),
]


@pytest.mark.parametrize(("typed", "other"), FORMS)
def test_a_form_is_the_other_command(typed, other):
    assert parse(typed.split()) == parse(other.split())


@pytest.mark.parametrize(
    ("typed", "other"),
    [FORMS[0], FORMS[2], FORMS[4], ("allgather ring:4", "gossip ring:4")],
)
def test_a_form_has_the_documents_of_the_other_command(typed, other, capsys):
    documents = []
    for words in (typed, other):
        assert CommandSession([*words.replace(" --json", "").split(), "--json"]).run() == 0
        documents.append(json.loads(capsys.readouterr().out))
    one, two = documents
    assert one["command"][1] == two["command"][1] == other.split()[0]
    assert (one["result"], one["digest"]) == (two["result"], two["digest"])
    assert not [*SCHEMA.iter_errors(one)]


def test_commands_without_their_forms_have_no_options_of_these():
    for typed in ("show ring:4", "route ring:4", "ascend ring:4 --operator sum"):
        assert not {"node", "source", "target", "down"} & vars(parse(typed.split())).keys()
    with pytest.raises(mpinet.MpinetError, match="has no option 'node'"):
        mpinet.sweep({"command": "show", "topology": "ring:6", "node": [1]})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("route torus:8x8 --pair transpose", "route has no option --pair: did you mean --pairs?"),
        ("route torus:8x8 --pairs transpos", "'transpos': did you mean transpose?"),
        (
            "load ring:8 --pattern random",
            "'random' routes each message once (mpinet route): give uniform",
        ),
        ("route ring:8 --mode quued", "did you mean queued?"),
        ("schedule exprt", "did you mean export?"),
        ("alltol ring:6", "did you mean alltoall?"),
        ("optimum broadcast", "as in: mpinet optimum broadcast hypercube:4"),
        ("show torus:8,8", "sides are joined by x: torus:8x8"),
        ("show hyperx:4,4", "sides are joined by x: hyperx:4x4"),
        ("show ring:8,8", "'8' is too much"),
        ("resume nofolder", "There is no checkpoint folder nofolder"),
        (
            "path torus:8x8 0",
            "required: DST; processor that receives: number or address; as in: mp",
        ),
        ("route torus:8x8 0", "as in: mpinet route torus:8x8 0 DST"),
        ("route torus:8x8 0 9 --ports one", "--ports does not apply"),
        ("show ring:8 --node 1 --distances", "--distances does not apply with --node"),
        ("ascend hypercube:4", "prefix, prefix-sum, fft"),
        ("run p.py:p ring:4", "mpinet run mpinet.examples.flood:flood --on ring:4"),
        ("exec x.py", "as in: mpinet exec --on torus:4x4 script.py"),
        ("show ring:8 more", "show takes no further word 'more'; as in: mpinet show"),
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(typed, said, capsys):
    assert said in refused(typed, capsys)


def test_a_key_of_another_command_is_told_as_such():
    with pytest.raises(mpinet.MpinetError, match="no option 'rates': rate belongs to load"):
        mpinet.sweep({"command": "route", "topology": "ring:6", "rates": [1]})
