"""The public names of the package: what type checkers know of them, without loading anything."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from mpinet.commands.catalogue import FUNCTIONS, SYNONYMS
from mpinet.commands.catalogue import ROOMS as COMMANDED

FOLDER = Path(import_module("mpinet").__file__).parent
ROOMS = ("mpinet", "mpinet.measure")


def told_to_checkers(room: str) -> dict[str, str]:
    """Where a room's names come from, by the imports of its stub."""
    tree = ast.parse(Path(import_module(room).__file__).with_suffix(".pyi").read_text())
    imports = [part for part in tree.body if isinstance(part, ast.ImportFrom)]
    assert len(imports) == len(tree.body) - 2  # the docstring and `__all__`
    names = {name.asname or name.name: part.module for part in imports for name in part.names}
    whole = names.pop("*", None)
    return names | dict.fromkeys(import_module(whole).__all__ if whole else (), whole)


@pytest.mark.parametrize("room", ROOMS)
def test_checkers_and_users_get_the_same_names_from_the_same_places(room: str) -> None:
    module, told = import_module(room), told_to_checkers(room)
    assert sorted(told) == sorted(module.__all__) == sorted(set(dir(module)))
    for name, source in told.items():
        assert getattr(module, name) is getattr(import_module(source), name)


def test_the_package_has_every_command_and_its_synonyms() -> None:
    assert set(import_module("mpinet").__all__) >= {*FUNCTIONS, *SYNONYMS, *COMMANDED}


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
