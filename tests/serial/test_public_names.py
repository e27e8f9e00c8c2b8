"""The public names of the package: what type checkers know of them, without loading anything."""

import ast
from importlib import import_module
from pathlib import Path

import pytest
from trees import tree_of

FOLDER = Path(import_module("mpinet").__file__).parent
ROOMS = ("mpinet", "mpinet.measure")


def told_to_checkers(room: str) -> dict[str, str]:
    """Where a room's names come from, by what it imports for type checkers alone."""
    tree = tree_of(Path(import_module(room).__file__).read_text())
    if room.startswith("mpinet.commands."):
        return dict.fromkeys(import_module(room).__all__, room)
    (block,) = (part for part in tree.body if isinstance(part, ast.If) and type_checking(part.test))
    names = {
        name.asname: part.module
        for part in block.body
        if isinstance(part, ast.ImportFrom)
        for name in part.names
        if name.name != "*"
    }
    whole = (part.module for part in block.body if part.names[0].name == "*")
    return {
        name: source for room in whole for name, source in told_to_checkers(room).items()
    } | names


def type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("room", ROOMS)
def test_checkers_and_users_get_the_same_names_from_the_same_places(room: str) -> None:
    module, told = import_module(room), told_to_checkers(room)
    assert sorted(told) == sorted(set(module.__all__) - {"__version__"})
    for name, source in told.items():
        assert getattr(module, name) is getattr(import_module(source), name)


MODULES = [
    name
    for name in sorted(
        f"mpinet.{'.'.join(file.relative_to(FOLDER).with_suffix('').parts)}"
        for file in FOLDER.rglob("*.py")
        if "\n__all__" in file.read_text()
    )
]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_names_that_it_lists(name: str) -> None:
    module = import_module(name.removesuffix(".__init__"))
    assert [word for word in module.__all__ if not hasattr(module, word)] == []


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'mpinet' has no attribute 'opne'"):
        import_module("mpinet").opne  # noqa: B018


def test_completion_offers_a_results_fields_and_those_of_objects_in_it() -> None:
    import mpinet

    found = mpinet.route("ring:6")
    assert {"steps", "latency", "to_frame", "plot"} <= set(dir(found))
    assert {"mean", "p99"} <= set(dir(found.latency))
    assert type(found.latency).__name__ == "Latency"
