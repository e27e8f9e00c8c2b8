"""Options are said once: their help, their choices, and the parser that has them."""

import ast
from collections import Counter
from collections.abc import Iterator

from trees import PACKAGE, files_of, nodes_of

from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS
from mpinet.commands.signature import signature_of

OPTIONS = [option for name in COMMANDS for option in signature_of(function_of(name)).options]

LONG = 30
"""Letters of a help from which on it is a sentence of its own."""


def listed(text: str) -> Iterator[frozenset[str]]:
    """Yield each list of texts in a file: tuples, lists, sets, and what a `Literal` lists."""
    for node in nodes_of(text):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if len(texts) == len(node.elts) > 2:
                yield frozenset(map(str, texts))


def often(text: str, sentences: set[str]) -> Counter[str]:
    """Count in a file how often it has each of the sentences, however their lines are broken."""
    texts = [
        " ".join(node.value.split())
        for node in nodes_of(text)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    whole = "\n".join(texts)
    return Counter({sentence: whole.count(sentence) for sentence in sentences})


def test_only_one_place_adds_options_to_parsers():
    calls = [
        (path.name, node.args[0].value if isinstance(node.args[0], ast.Constant) else None)
        for path in files_of()
        for node in nodes_of(path.read_text())
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
        if node.args
    ]
    assert {each[0] for each in calls} == {"parser.py"}
    assert [said for _, said in calls if said is not None] == ["--version"]


def test_no_help_is_written_twice():
    helps = {" ".join(option.help.split()) for option in OPTIONS if len(option.help) >= LONG}
    found: Counter[str] = Counter()
    for path in files_of("commands", "cli"):
        found += often(path.read_text(), helps)
    assert len(helps) > 200
    assert {text: times for text, times in found.items() if times > 1} == {}


def test_no_choices_are_listed_twice():
    choices = {frozenset(map(str, option.choices)) for option in OPTIONS if len(option.choices) > 2}
    rooms = [path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "certify"]
    lists = (each for path in files_of(*rooms) for each in listed(path.read_text()))
    found = Counter(each for each in lists if each in choices)
    assert len(choices) > 20
    assert {words: times for words, times in found.items() if times > 1} == {}


def test_a_second_spelling_is_found():
    twice = (
        'A = Literal["one", "two", "three"]\nB = ("three", "one", "two")\n'
        '"""Steps that\n    are waited for."""\nhelp = "Steps that are waited for."\n'
    )
    assert list(listed(twice)).count(frozenset(("one", "two", "three"))) == 2
    assert often(twice, {"Steps that are waited for."})["Steps that are waited for."] == 2
