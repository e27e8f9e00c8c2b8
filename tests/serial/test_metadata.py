"""The project's metadata agree: pyproject.toml, CITATION.cff, codemeta.json and the pages."""

import argparse
import json
import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import mpinet

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text())
CODEMETA = json.loads((CHECKOUT / "codemeta.json").read_text())
METADATA = runpy.run_path(str(CHECKOUT / "launch/release/metadata.py"))


def versions(classifiers: list[str]) -> list[int]:
    """Minor versions of Python 3 that classifiers state."""
    lines = "\n".join(classifiers)
    found = re.findall(r"^Programming Language :: Python :: 3\.(\d+)$", lines, re.MULTILINE)
    return [int(minor) for minor in found]


def test_the_classifiers_state_each_version_of_python_from_the_oldest_on() -> None:
    oldest = re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])
    found = versions(PROJECT["classifiers"])
    assert oldest is not None
    assert found == [*range(int(oldest[1]), int(oldest[1]) + len(found))]
    assert len(found) >= 2


def test_the_classifiers_promise_what_the_package_has() -> None:
    classifiers = PROJECT["classifiers"]
    assert len(classifiers) == len({*classifiers})
    assert ("Typing :: Typed" in classifiers) == (CHECKOUT / "mpinet/py.typed").exists()
    assert ("Framework :: Pytest" in classifiers) == ("pytest11" in PROJECT["entry-points"])
    assert not any(each.startswith("License ::") for each in classifiers)  # license is SPDX


def test_the_files_for_citation_agree_with_the_package() -> None:
    names = [each["name"] for each in PROJECT["authors"]]
    assert CITATION["title"] == CODEMETA["name"] == PROJECT["name"]
    assert CITATION["version"] == CODEMETA["version"] == mpinet.__version__
    assert CODEMETA["license"].rpartition("/")[2] == CITATION["license"] == PROJECT["license"]
    assert [each["name"] for each in CITATION["authors"]] == names
    assert [each["name"] for each in CODEMETA["author"]] == names
    assert CITATION["keywords"] == CODEMETA["keywords"] == PROJECT["keywords"]
    unreleased = Version(mpinet.__version__).is_devrelease
    assert ("date-released" in CITATION) != unreleased
    assert str(CITATION.get("date-released")) == str(CODEMETA.get("dateModified"))


def test_codemeta_is_what_its_script_writes() -> None:
    assert METADATA["codemeta"](CHECKOUT) == (CHECKOUT / "codemeta.json").read_text()


def test_the_page_on_citing_has_this_version() -> None:
    page = (CHECKOUT / "docs/citing.md").read_text()
    assert f"version = {{{mpinet.__version__}}}" in page
    assert PROJECT["license"] in page and PROJECT["authors"][0]["name"] in page


BASE = "https://example.org/mpinet"
CHANGED = ("README.md", "pyproject.toml", "CITATION.cff", "codemeta.json")


def with_address(base: str, folder: Path) -> dict[str, str]:
    """The four files of a copy with a public address."""
    for name in CHANGED:
        shutil.copy(CHECKOUT / name, folder / name)
    METADATA["write_address"](base, folder)
    return {name: (folder / name).read_text() for name in CHANGED}


def test_a_public_address_makes_the_links_of_the_readme_absolute(tmp_path: Path) -> None:
    page = with_address(BASE, tmp_path)["README.md"]
    links = re.findall(r'\]\((.*?)\)|src="(.*?)"', page)
    targets = [link or picture for link, picture in links]
    assert len(targets) > 15
    for target in targets:
        path = re.fullmatch(rf"{BASE}/(?:blob|raw)/HEAD/(.+)", target)
        assert path is not None, target
        assert (CHECKOUT / path[1]).is_file()
    relative = re.sub(rf"{BASE}/(?:blob|raw)/HEAD/", "", page)
    assert relative == (CHECKOUT / "README.md").read_text()


def test_a_public_address_stands_in_all_metadata(tmp_path: Path) -> None:
    files = with_address(BASE, tmp_path)
    project = tomllib.loads(files["pyproject.toml"])["project"]
    assert project["urls"]["Homepage"] == project["urls"]["Repository"] == BASE
    assert all(each.startswith(BASE) for each in project["urls"].values())
    citation = yaml.safe_load(files["CITATION.cff"])
    assert citation.pop("repository-code") == BASE and citation == CITATION
    described = json.loads(files["codemeta.json"])
    assert described.pop("codeRepository") == BASE
    assert described.pop("issueTracker") == project["urls"]["Issues"]
    assert described == CODEMETA
    assert {key: value for key, value in project.items() if key != "urls"} == PROJECT


def test_the_checkout_names_no_public_address() -> None:
    assert "urls" not in PROJECT
    assert "repository-code" not in CITATION and "codeRepository" not in CODEMETA
    readme = (CHECKOUT / "README.md").read_text()
    assert not re.search(r'(?:\]\(|src=")https?:', readme)


@pytest.mark.parametrize("text", ["", "example.org", "https://", "ftp://a.b", 'https://a.b/"x'])
def test_other_texts_are_no_address(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not an address such as"):
        METADATA["address"](text)


def test_a_slash_at_the_end_of_the_address_is_dropped() -> None:
    assert METADATA["address"](f"{BASE}/") == BASE
