"""What is uploaded to a registry: sdist and wheel, as twine checks them, and recipes."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT
from launch.debian import run
from launch.test_release import checkout

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tools(tmp_path_factory) -> Path:
    """A Python with the programs that build and check; its packages come from the registry."""
    folder = tmp_path_factory.mktemp("tools")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", "build", "hatchling", "twine")
    return python


def build(tools: Path, folder: Path) -> tuple[Path, Path]:
    """Build the sdist of the checkout, and the wheel of plain Python from this sdist."""
    run(tools, "-m", "build", "--no-isolation", "--outdir", folder, CHECKOUT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def test_twine_accepts_sdist_and_wheel(tools, tmp_path):
    sdist, wheel = build(tools, tmp_path)
    done = subprocess.run(
        [tools, "-m", "twine", "check", "--strict", sdist, wheel], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {
        "codemeta.json", "CITATION.cff", "SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE", ".ci/run",
        ".github/workflows/tests.yml", "tests/serial/test_policies.py", "launch/test",
        "launch/release/development.lock", "launch/release/recipe/recipe.yaml.in",
    } <= names  # fmt: skip
    with zipfile.ZipFile(wheel) as packed:
        assert "mpinet/py.typed" in packed.namelist()


def described(wheel: Path):
    """The metadata of a wheel; its text is the description."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (each for each in packed.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_bytes(packed.read(name))


def test_a_release_with_an_address_has_absolute_links(tmp_path):
    base = "https://example.org/mpinet"
    folder = checkout(tmp_path)
    settings = {"SOURCE_DATE_EPOCH": "1700000000"}
    run(folder / "launch/release/make", "plain", "--url", base, **settings)
    (sdist,), (wheel,) = folder.glob("dist/*.tar.gz"), folder.glob("dist/*.whl")
    metadata = described(wheel)
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    assert addresses["Homepage"] == base and len(addresses) == 5
    page = metadata.get_payload()
    links = re.findall(r"\]\((.*?)\)", page) + re.findall(r'(?:src|href)="(.*?)"', page)
    paths = [re.fullmatch(rf"{base}/(?:blob|raw)/HEAD/([\w./-]+)(?:#.*)?", link) for link in links]
    assert len(paths) > 15 and None not in paths, links
    assert [path[1] for path in paths if not (CHECKOUT / path[1]).is_file()] == []
    with tarfile.open(sdist) as packed:
        top = sdist.name.removesuffix(".tar.gz")
        texts = {
            name: packed.extractfile(f"{top}/{name}").read().decode()
            for name in ("CITATION.cff", "codemeta.json", "pyproject.toml")
        }
    assert all(base in text for text in texts.values())
    # The sources of the release stay as they are.
    assert (folder / "README.md").read_bytes() == (CHECKOUT / "README.md").read_bytes()
    assert (folder / "CITATION.cff").read_bytes() == (CHECKOUT / "CITATION.cff").read_bytes()


RENDER = """
import json, sys
from rattler_build import Stage0Recipe
(variant,) = Stage0Recipe.from_file(sys.argv[1]).render()
print(json.dumps(variant.recipe.to_dict()))
"""


def test_the_builder_of_conda_packages_accepts_the_recipe(tmp_path):
    folder = checkout(tmp_path / "sources")
    settings = {"SOURCE_DATE_EPOCH": "1700000000"}
    run(folder / "launch/release/make", "recipes", "--url", "https://example.org/m", **settings)
    run(sys.executable, "-m", "venv", tmp_path / "conda")
    python = tmp_path / "conda/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "py-rattler-build")
    recipe = folder / "dist/recipe/recipe.yaml"
    words = [python, "-c", RENDER, recipe]
    rendered = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    (sdist,) = folder.glob("dist/*.tar.gz")
    assert rendered["package"]["version"] == sdist.name.split("-")[1].removesuffix(".tar.gz")
    (source,) = rendered["source"]
    assert source["url"].startswith("https://example.org/m/")
    assert source["sha256"] == hashlib.sha256(sdist.read_bytes()).hexdigest()
    assert "python >=3.11" in rendered["requirements"]["run"]
    recipe.write_text(recipe.read_text().replace("noarch: python", "noarch: snake"))
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1 and "invalid noarch type" in done.stderr


OFFLINE = """
import socket, sys
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError:
    sys.exit(0)
sys.exit("there is a network")
"""
"""Fails if a packet can leave this host: the address belongs to documentation (RFC 5737)."""

DOWNLOADING = 3600
"""Seconds that the download of 150 packages may take on a busy machine."""

SOME = [
    f"tests/serial/{name}.py"
    for name in ("test_metadata", "test_draws", "test_recipes", "test_units", "networks/test_graph")
]


def isolated() -> list[str]:
    """The command that runs another one without a network, where the host allows such a command."""
    words = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    allowed = subprocess.run([*words, "true"], capture_output=True).returncode == 0
    return words if allowed else ["env", "https_proxy=http://127.0.0.1:9"]


def test_an_unpacked_sdist_builds_and_tests_itself_without_a_network(tools, tmp_path):
    sdist, _ = build(tools, tmp_path)
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    folder = tmp_path / sdist.name.removesuffix(".tar.gz")
    script = folder / "launch/release/offline"
    refused = subprocess.run(
        [script, "build", tmp_path / "none"], capture_output=True, text=True, cwd=tmp_path
    )
    assert refused.returncode == 2 and "has no packages; first run" in refused.stderr
    wheels = tmp_path / "wheels"
    subprocess.run([script, "download", wheels], check=True, timeout=DOWNLOADING)
    alone = isolated()
    if alone[0] == "unshare":
        run(*alone, sys.executable, "-c", OFFLINE)
    done = subprocess.run(
        [*alone, script, "test", wheels, *SOME, "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) > 100
    # The tests ran with the installed wheel, and not with the sources next to them.
    asks = "import mpinet; print(mpinet.__file__)"
    place = subprocess.run(
        [folder / ".venv/bin/python", "-c", asks], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert place.startswith(f"{folder}/.venv/lib/")
    # A changed package is refused.
    (folder / ".venv").rename(tmp_path / "old")
    (wheel,) = wheels.glob("networkx-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"x")
    done = subprocess.run([script, "build", wheels], capture_output=True, text=True)
    assert done.returncode == 1 and "DO NOT MATCH THE HASHES" in done.stderr


ELSEWHERE = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "5"}
"""Settings of the second build, which change nothing."""

OPTIONS = {
    "plain": [],
    # The rules of one family: all of them take a quarter of an hour.
    "wheels": ["--only", "^family:star$", "--processes", "1"],
}


def built(folder: Path, what: str, **settings: str) -> dict[str, bytes]:
    """The packages that a copy of the checkout makes, by name."""
    copy = checkout(folder)
    (copy / ".venv").symlink_to(CHECKOUT / ".venv")
    settings |= {"SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": str(copy)}
    run("bash", "-c", f'umask {settings.pop("UMASK", "022")}; exec "$0" "$@"',
        copy / "launch/release/make", what, *OPTIONS[what], **settings)  # fmt: skip
    return {path.name: path.read_bytes() for path in (copy / "dist").iterdir()}


@pytest.mark.parametrize(("what", "count"), [("plain", 2), ("wheels", 4)])
def test_two_builds_of_a_commit_are_the_same_byte_by_byte(what, count, tmp_path):
    """In folders, times of files, and an environment that differ."""
    (tmp_path / "one").mkdir()
    first = built(tmp_path / "one", what)
    second = built(tmp_path / "another place", what, UMASK="077", **ELSEWHERE)
    assert len(first) == count and first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_another_commit_time_makes_other_packages(tmp_path):
    """The comparison above can fail: the time of the commit is in the packages."""
    folder = checkout(tmp_path)
    packages = []
    for epoch in ("1700000000", "1600000000"):
        run(folder / "launch/release/make", "plain", SOURCE_DATE_EPOCH=epoch)
        packages.append({path.name: path.read_bytes() for path in (folder / "dist").iterdir()})
    assert all(packages[0][name] != packages[1][name] for name in packages[0])
