"""The environments of a release: locked packages, their list, the container, oldest packages."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RELEASE = CHECKOUT / "launch/release"
EXTRAS = ("openmpi", "fast", "plots", "optimum", "measure")
JOB = ["load", "torus:4x4", "--rate", "0.2", "--warmup", "50", "--steps", "100", "--json"]


def locked(text):
    """Each package's versions in a lock file, with how many hashes each of them has."""
    entries = []
    for line in text.splitlines()[1:]:  # the first is a comment
        if line[0] != " ":
            entries.append([*re.match(r"([\w.-]+)==(\S+) ", line).groups(), 0])
        else:
            assert re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}( \\)?", line)
            entries[-1][2] += 1
    return entries


def unlocked(requirements, entries):
    """The requirements that no entry of a lock file meets."""
    met = [
        r
        for r in requirements
        if any(name == r.name and version in r.specifier for name, version, _ in entries)
    ]
    return [str(r) for r in requirements if r not in met]


def requirements(extras=EXTRAS):
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    found = [Requirement(line) for line in project["dependencies"]]
    waiting = list(extras)
    for extra in waiting:  # an extra of mpinet itself brings further extras
        for line in map(Requirement, project["optional-dependencies"][extra]):
            waiting += line.extras if line.name == "mpinet" else ()
            found += [line] if line.name != "mpinet" else []
    for requirement in found:  # python-sat has no final version
        requirement.specifier.prereleases = True
    return found


def test_the_lock_has_all_packages_with_hashes_and_the_list_has_no_others():
    entries = locked((RELEASE / "requirements.lock").read_text())
    assert len(entries) > 30 and all(hashes for _, _, hashes in entries)
    assert unlocked(requirements(), entries) == []
    older = [(name, "0.1" if name == "numba" else version, 1) for name, version, _ in entries]
    assert [line.split("<")[0] for line in unlocked(requirements(), older)] == ["numba"]

    listed = json.loads((RELEASE / "sbom.json").read_text())
    names = {(c["name"].replace("_", "-"), c["version"]) for c in listed["components"]}
    missing = names - {(name, version) for name, version, _ in entries}
    assert {name for name, _ in missing} <= {"pip", "setuptools"}  # of the environment itself
    assert {r.name for r in requirements()} <= {name for name, _ in names}


def test_the_lock_for_development_has_all_packages_of_the_tests_in_the_same_versions():
    entries = locked((RELEASE / "development.lock").read_text())
    wanted = requirements(("openmpi", "dev"))
    assert {"towncrier", "pytest", "sphinx", "numba"} <= {each.name for each in wanted}
    assert all(hashes for _, _, hashes in entries)
    assert unlocked(wanted, entries) == []
    released = {(n, v) for n, v, _ in locked((RELEASE / "requirements.lock").read_text())}
    assert released <= {(name, version) for name, version, _ in entries}


def checkout(folder):
    """A copy of the files that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)
    for name in names.stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, folder / name)
    return folder


def shell(command, folder):
    return subprocess.run(
        command, cwd=folder, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def digest(python: Path):
    done = subprocess.run([python, "-m", "mpinet", *JOB], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["digest"]


@pytest.mark.long
def test_the_containers_steps_make_an_environment_with_the_same_results(tmp_path):
    folder = checkout(tmp_path)
    recipe = (RELEASE / "Containerfile").read_text()
    steps = re.findall("^RUN (.*)$", recipe, re.M)
    assert len(steps) == 2
    for step in steps:
        done = shell(step, folder)
        assert done.returncode == 0, done.stderr
    told = shell(".venv/bin/python -m pip freeze --exclude-editable", folder).stdout.split()
    frozen = [
        f"{canonicalize_name(name)}=={version}"
        for name, version in (line.split("==") for line in told)
    ]
    entries = locked((RELEASE / "requirements.lock").read_text())
    assert frozen and {*frozen} <= {f"{name}=={version}" for name, version, _ in entries}
    assert digest(folder / ".venv/bin/python") == digest(Path(sys.executable))

    lock = folder / "launch/release/requirements.lock"
    lock.write_text(re.sub("sha256:.", "sha256:g", lock.read_text()))
    shutil.rmtree(folder / ".venv")
    done = shell("launch/setup --versions locked", folder)
    assert done.returncode == 1 and "hash" in done.stderr.lower()


@pytest.mark.long
def test_the_oldest_packages_give_the_same_results(tmp_path):
    folder = checkout(tmp_path)
    done = shell("launch/setup --versions lowest", folder)
    assert done.returncode == 0, done.stderr
    python = folder / ".venv/bin/python"
    frozen = shell(f"{python} -m pip freeze", folder).stdout
    assert "numpy==1.26.0\n" in frozen
    assert digest(python) == digest(Path(sys.executable))
    environment = {**os.environ, "PYTHONPATH": str(folder / "tests")}
    command = [python, "-m", "pytest", "-q", "tests/serial/measure", "tests/serial/programs"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A checkout whose environment each of a site's MPI libraries gets in turn."""
    return checkout(tmp_path_factory.mktemp("site") / "checkout")


@pytest.mark.long
@pytest.mark.parametrize(("library", "maker"), [("openmpi", "Open MPI"), ("mpich", "MPICH")])
def test_a_sites_mpi_gets_an_mpi4py_that_is_compiled_for_it(site, library, maker, tmp_path):
    """Debian's libraries are those of a site; for another one in the PATH, it is compiled again."""
    for program in ("mpirun", "mpicc"):
        found = shutil.which(f"{program}.{library}")
        if found is None:
            pytest.skip("apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev")
        (tmp_path / program).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
        (tmp_path / program).chmod(0o755)
    module = f"PATH={tmp_path}:$PATH CFLAGS=-O0"  # quick to compile
    made = shell(f"{module} launch/setup --mpi system --lean", site)
    assert made.returncode == 0 and ".venv is ready" in made.stderr, made.stderr
    again = shell(f"{module} launch/setup --mpi system --lean", site)
    assert (again.returncode, again.stderr) == (0, "")
    told = shell(f"{module} .venv/bin/mpinet doctor", site)
    assert told.returncode == 0, told.stdout
    assert re.search(rf"^ok +MPI library +{maker}", told.stdout, re.MULTILINE)
    assert f"ok    they belong together  yes, both {maker}\n" in told.stdout
    assert re.search("^ok +two ranks ", told.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ("--versions", "--versions takes locked or lowest (given: '')"),
        ("--versions newest", "--versions takes locked or lowest (given: 'newest')"),
        ("--versions locked --mpi mpich", "--versions locked has Open MPI; leave --mpi out"),
    ],
)
def test_wrong_versions_are_a_sentence(arguments, sentence):
    done = shell(f"launch/setup {arguments}", CHECKOUT)
    assert (done.returncode, done.stderr) == (2, f"launch/setup: {sentence}\n")


@pytest.mark.parametrize(("words", "status"), [("", 2), ("everything", 2), ("--help", 0)])
def test_the_release_is_made_part_by_part(words, status):
    done = shell(f"launch/release/make {words}", CHECKOUT)
    assert done.returncode == status
    assert done.stdout.startswith("usage: launch/release/make packages | wheels")


@pytest.mark.parametrize("given", ["", "example.org/mpinet"])
def test_a_wrong_address_is_a_sentence(given):
    done = shell(f"launch/release/make plain --url '{given}'", CHECKOUT)
    assert done.returncode == 2
    assert done.stderr == (
        "launch/release/make: --url takes an address such as https://example.org/mpinet "
        f"(given: '{given}')\n"
    )
