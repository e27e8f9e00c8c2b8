"""The wheel with native code, in clean environments: it has all code, and the same results.

`MPINET_WHEEL_FOLDER` names a folder with a finished library, indexes and extension. Else they are
made here, which takes a quarter of an hour, unless `launch/release/make wheels` has left objects.
"""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT

pytestmark = pytest.mark.long

README = (CHECKOUT / "README.md").read_text()
EXAMPLE = re.search("```python\n(import mpinet.*?)```", README, re.S).group(1)
COMMANDS = re.findall(r"^\$ mpinet (?:launch -n 4 )?(?!exec)(.*)$", README, re.M)

PLAIN = {"PYTHONPATH", "PYTHONHOME", "NUMBA_DISABLE_JIT", "MPINET_WHEEL_FOLDER", "VIRTUAL_ENV"}


@cache
def pythons() -> dict[str, Path]:
    """The versions of Python here that mpinet runs on, each by its number."""
    found = {}
    names = [f"python3.{minor}" for minor in range(11, 15)]
    folders = [
        *map(Path, os.environ["PATH"].split(":")),
        *Path(sys.base_prefix).parent.glob("*/bin"),
    ]
    asks = "import ensurepip, sys; print(*sys.version_info[:2], sep='.')"
    for path in [folder / name for folder in folders for name in names]:
        if path.exists():
            said = subprocess.run([path, "-c", asks], capture_output=True, text=True)
            if said.returncode == 0:
                found.setdefault(said.stdout.strip(), path)
    return found


def run(*words, folder, **added):
    """What a command prints, in a folder and without this environment's variables."""
    kept = {name: value for name, value in os.environ.items() if name not in PLAIN}
    done = subprocess.run(
        [*map(str, words)], cwd=folder, env=kept | added, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A clean environment for each version of Python, with the wheel installed."""
    folder = tmp_path_factory.mktemp("wheel")
    made = {}
    for version, python in pythons().items():
        run(python, "-m", "venv", folder / version, folder=folder)
        made[version] = folder / version / "bin/python"
        needed = "numpy", "networkx", "greenlet"
        run(made[version], "-m", "pip", "install", "--quiet", *needed, folder=folder)
    native = os.environ.get("MPINET_WHEEL_FOLDER")
    if native is None:
        native = folder / "native"
        words = ["launch/release/library.py", "--into", native, "--pythons", *made.values()]
        run(sys.executable, *words, folder=CHECKOUT)
        extension = native / "_calls.abi3.so"
        run(sys.executable, "-m", "mpinet.base.native.build", extension, folder=CHECKOUT)
    named = {"MPINET_WHEEL_FOLDER": str(native), "MPINET_WHEEL_PLATFORM": "linux_x86_64"}
    words = "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder
    run(sys.executable, *words, CHECKOUT, folder=folder, **named)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith("-cp310-abi3-linux_x86_64.whl")
    for python in made.values():
        run(python, "-m", "pip", "install", "--quiet", wheel, folder=folder)
    return made


ALL = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
from mpinet.base.native import calls
from mpinet.base.native.library import library
from mpinet.launching.compiling import codes, everything
found = library()
addresses = {key: found.address(code.fingerprint)
             for name in everything() for key, code in codes(name).items()}
print(calls.FORM, len(addresses) > 1000, [key for key, address in addresses.items() if not address])
"""


@pytest.mark.parametrize("version", pythons())
def test_the_library_has_everything_that_can_be_compiled_beforehand(
    environments, version, tmp_path
):
    printed = run(environments[version], "-P", "-c", ALL, folder=tmp_path)
    assert printed == "extension True []\n"


def results(python, folder):
    """What the commands and the program of the README print."""
    printed = [
        run("sh", "-c", f"{python} -P -m mpinet {command}", folder=folder) for command in COMMANDS
    ]
    return [*printed, run(python, "-P", "-c", EXAMPLE, folder=folder)]


@pytest.mark.parametrize("version", pythons())
def test_the_readmes_commands_print_what_they_print_in_the_checkout(
    environments, version, tmp_path
):
    assert len(COMMANDS) == 2
    (tmp_path / "checkout").mkdir()
    expected = results(sys.executable, tmp_path / "checkout")
    python = environments[version]
    asks = "import importlib.util as u; print(u.find_spec('numba'))"
    assert run(python, "-c", asks, folder=tmp_path) == "None\n"
    assert results(python, tmp_path) == expected
    fast = re.search(r'^fast = \["(.*)"\]', (CHECKOUT / "pyproject.toml").read_text(), re.M)
    run(python, "-m", "pip", "install", "--quiet", fast.group(1), folder=tmp_path)
    assert results(python, tmp_path) == expected


def test_a_wheel_that_no_release_asks_for_is_plain_python(tmp_path):
    words = "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path
    run(sys.executable, *words, CHECKOUT, folder=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = run(sys.executable, "-m", "zipfile", "-l", wheel, folder=tmp_path)
    assert "mpinet/base/native/calls.py" in names
    assert ".so" not in names and "mpinet/native/" not in names
