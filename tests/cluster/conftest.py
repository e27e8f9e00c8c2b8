"""Three hosts for all tests, where this machine can make them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cluster.hosts import CHECKOUT, Hosts, why_not
from launch.conftest import TIME_LIMIT, other_mpirun, own_mpirun

HOSTS = 3
LENGTHS = (400, 4_000, 40_000)
"""Of rings on which a flood is to be hit: where the job ends before that, the next is tried."""


@pytest.fixture(scope="session")
def machine() -> Iterator[Hosts]:
    """The hosts of the session."""
    if reason := why_not():
        pytest.skip(reason)
    hosts = Hosts(HOSTS)
    yield hosts
    hosts.down()


@pytest.fixture
def hosts(machine: Hosts) -> Iterator[Hosts]:
    """Three hosts with an empty shared folder; what a test leaves is killed, and mended."""
    yield machine
    machine.clear()
    machine.restore()
    left = machine.sweep()
    machine.empty()
    assert left == []


@pytest.fixture(params=["openmpi", "mpich"])
def library(request: pytest.FixtureRequest) -> Library:
    """Each MPI library in turn."""
    return library_named(request.param)


class Library:
    """An MPI library: its launcher, and its form of host files."""

    def __init__(self, name: str, mpirun: Path):
        self.name = name
        self.mpirun = mpirun
        self.daemon = {"openmpi": "prted", "mpich": "hydra_pmi_proxy"}[name]
        self.program = {"openmpi": "prterun", "mpich": "mpirun"}[name]

    def host_file(self, hosts: Hosts, *names: str, each: int = 1) -> Path:
        """The template that mpinet brings, with other hosts in it."""
        template = (CHECKOUT / f"hostfiles/{self.name}.hosts").read_text()
        comments = [line for line in template.splitlines() if line.startswith("#")]
        form = {"openmpi": "{} slots={}", "mpich": "{}:{}"}[self.name]
        file = hosts.shared / "my.hosts"
        lines = [form.format(name, each) for name in names]
        file.write_text("\n".join([*comments, *lines]) + "\n")
        return file

    def words(
        self,
        hosts: Hosts,
        *command: str,
        on: tuple[str, ...] = ("node1", "node2", "node3"),
        each: int = 1,
    ) -> list[str | Path]:
        """An mpinet command on the hosts, so many ranks on each, by launch/run."""
        file = self.host_file(hosts, *on, each=each)
        options = ["-n", str(each * len(on)), "--mpirun", self.mpirun, "--hostfile", file]
        return [CHECKOUT / "launch/run", *options, "mpinet", *command]


def library_named(name: str) -> Library:
    """The library, if it is installed in this checkout."""
    for found in (own_mpirun(), other_mpirun()):
        if found is not None:
            is_mpich = (found.parent / "hydra_pmi_proxy").exists()
            if is_mpich == (name == "mpich"):
                return Library(name, found)
    pytest.skip(f"{name} is not present: launch/setup --other")


def nothing_is_left(hosts: Hosts) -> list[str]:
    """What still runs on the hosts, once nothing does or the time is up."""
    deadline = time.monotonic() + TIME_LIMIT
    while (left := hosts.left()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def has_state(hosts: Hosts) -> bool:
    """Whether the job in the shared folder has written a checkpoint that holds a state."""
    with contextlib.suppress(FileNotFoundError):
        return bool(json.loads((hosts.shared / "saved/manifest.json").read_text())["state"])
    return False


@cache
def alone(*words: str) -> dict:
    """The document of a command on this machine, on one rank."""
    mpinet = CHECKOUT / ".venv/bin/mpinet"
    done = subprocess.run([mpinet, *words, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)
