"""The recipes for conda-forge and Spack ask for what pyproject.toml asks for."""

import hashlib
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

CHECKOUT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
BASE = "https://example.org/mpinet"
PROBES = [Version(f"{a}.{b}{c}") for a in range(5) for b in range(75) for c in ("", ".0", ".7")]
"""Versions on which a requirement and its translation have to agree."""


@pytest.fixture(params=[None, BASE], ids=["local", "public"])
def base(request) -> str | None:
    """The public address of the project, if one is known."""
    return request.param


@pytest.fixture
def sdist(tmp_path: Path, base: str | None) -> Path:
    """A file like the sdist of version 1.2.3, with the recipes next to it."""
    file = tmp_path / "mpinet-1.2.3.tar.gz"
    file.write_bytes(b"sources")
    words = [file, *(["--url", base] if base else [])]
    script = CHECKOUT / "launch/release/recipes.py"
    subprocess.run([sys.executable, script, *map(str, words)], check=True, cwd=tmp_path)
    return file


@pytest.fixture
def conda(sdist: Path) -> dict:
    """The recipe for conda-forge; blanks in values of Jinja mean nothing to YAML."""
    return yaml.safe_load((sdist.parent / "recipe/recipe.yaml").read_text())


class Recorded(dict):
    """The directives of a package for Spack, in place of Spack's own module."""

    def __init__(self) -> None:
        super().__init__(version=[], license=[], variant=[], depends_on=[])
        self.condition: str | None = None

    def module(self) -> ModuleType:
        """A module whose functions record their arguments."""
        made = ModuleType("spack.package")
        for name in self:
            setattr(made, name, self.recorder(name))
        made.when = self.when
        return made

    def recorder(self, name: str):
        return lambda *words, **named: self[name].append((words, named | {"when": self.condition}))

    @contextmanager
    def when(self, condition: str):
        self.condition = condition
        yield
        self.condition = None


@pytest.fixture
def spack(sdist: Path, monkeypatch) -> Recorded:
    """The directives that the package for Spack runs, and its class."""
    recorded = Recorded()
    builder = ModuleType("spack_repo.builtin.build_systems.python")
    builder.PythonPackage = object
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", recorded.module())
    monkeypatch.setitem(sys.modules, builder.__name__, builder)
    monkeypatch.chdir(sdist.parent)
    names: dict = {}
    exec((sdist.parent / "recipe/package.py").read_text(), names)
    recorded.package = names["PyMpinet"]
    return recorded


def allows(spec: str, version: Version) -> bool:
    """Whether a range of Spack has a version: `1.26:` or `0.62:0.68`, whose end is a series."""
    lowest, _, last = spec.partition(":")
    series = Version(last).release if last else ()
    return version >= Version(lowest) and version.release[: len(series)] <= series


def agree(requirement: str, allowed) -> bool:
    """Whether a requirement and a translation allow the same versions."""
    specifier = Requirement(requirement).specifier
    return all(specifier.contains(probe) == allowed(probe) for probe in PROBES)


def same(requirements: list[str], translated: list[str]) -> bool:
    """Whether lines of conda state the requirements of pyproject.toml."""
    wanted = {Requirement(line).name: line for line in requirements}
    found = {line.split()[0]: Requirement(line) for line in translated}
    return wanted.keys() == found.keys() and all(
        agree(line, found[name].specifier.contains) for name, line in wanted.items()
    )


def test_the_recipe_for_conda_asks_for_the_packages_of_the_project(conda: dict) -> None:
    needs = conda["requirements"]
    host, run = needs["host"], needs["run"]
    assert host[:2] == ["python ${{ python_min }}.*", "pip"]
    assert run[0] == "python >=${{ python_min }}"
    assert f">={conda['context']['python_min']}" == PROJECT["requires-python"]
    assert same(SETTINGS["build-system"]["requires"], host[2:])
    assert same(PROJECT["dependencies"], run[1:])
    assert same(EXTRAS["fast"] + EXTRAS["plots"], needs["run_constraints"])
    assert not same(PROJECT["dependencies"], [*run[1:-1], "greenlet >=3.2"])


def test_the_recipe_for_conda_describes_the_project(conda: dict, sdist: Path, base) -> None:
    hashed = hashlib.sha256(b"sources").hexdigest()
    place = {"url": f"{BASE}/releases/download/v1.2.3/{sdist.name}"}
    assert conda["source"] == {"sha256": hashed} | (place if base else {"path": f"../{sdist.name}"})
    assert conda["context"]["version"] == "1.2.3"
    about = conda["about"]
    assert (about["license"], about["summary"]) == (PROJECT["license"], PROJECT["description"])
    assert about.get("homepage") == base
    scripts = [f"{name} = {function}" for name, function in PROJECT["scripts"].items()]
    assert conda["build"]["python"]["entry_points"] == scripts


def test_the_package_for_spack_asks_for_the_packages_of_the_project(spack: Recorded) -> None:
    wanted = {("python", None): f"python{PROJECT['requires-python']}"}
    lists = {
        None: SETTINGS["build-system"]["requires"] + PROJECT["dependencies"],
        "+fast": EXTRAS["fast"],
        "+plots": EXTRAS["plots"],
    }
    for condition, lines in lists.items():
        wanted |= {(f"py-{Requirement(line).name}", condition): line for line in lines}
    found = {}
    for (spec,), named in spack["depends_on"]:
        name, _, versions = spec.partition("@")
        found[name, named["when"]] = versions
        built = ["build"] if name == "py-hatchling" else ["build", "run"]
        assert list(named["type"] if isinstance(named["type"], tuple) else [named["type"]]) == built
    assert found.keys() == wanted.keys()
    for key, line in wanted.items():
        assert agree(line, lambda probe, key=key: allows(found[key], probe)), line
    assert {words[0] for words, _ in spack["variant"]} == {"fast", "plots"}


def test_the_package_for_spack_describes_the_project(spack: Recorded, sdist: Path, base) -> None:
    ((words, named),) = spack["version"]
    assert (words, named["sha256"]) == (("1.2.3",), hashlib.sha256(b"sources").hexdigest())
    assert [words for words, _ in spack["license"]] == [(PROJECT["license"],)]
    package = spack.package
    assert package.__doc__ == f"{PROJECT['description']}."
    if base:
        assert (package.homepage, package.url) == (
            BASE, f"{BASE}/releases/download/v1.2.3/{sdist.name}",
        )  # fmt: skip
    else:
        assert package.manual_download and package.url == f"file://{sdist}"
        assert not hasattr(package, "homepage")


def test_a_requirement_of_another_form_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "launch/release"
    folder.mkdir(parents=True)
    for name in ("recipes.py", "metadata.py"):
        (folder / name).write_text((CHECKOUT / "launch/release" / name).read_text())
    text = (CHECKOUT / "pyproject.toml").read_text()
    (folder / "recipe").symlink_to(CHECKOUT / "launch/release/recipe")
    (tmp_path / "pyproject.toml").write_text(text.replace('"numpy>=1.26"', '"numpy~=1.26"'))
    file = tmp_path / "mpinet-1.2.3.tar.gz"
    file.touch()
    done = subprocess.run(
        [sys.executable, folder / "recipes.py", file], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "launch/release/recipes.py: cannot translate 'numpy~=1.26'\n"
