"""`mpinet doctor --report` prints what a bug report needs, and no private name."""

import json
import os
import platform
import re
from pathlib import Path

import pytest
import yaml

from mpinet.base.native.kept import Kept
from mpinet.base.version import PACKAGE, __version__
from mpinet.cli.session import CommandSession
from mpinet.jobs import bugreport
from mpinet.launching import doctor
from mpinet.launching.doctor import BAD, Examined

NAMES = ("jdoe", "node7", "node7.site.edu")


@pytest.fixture
def home(monkeypatch, tmp_path: Path) -> Path:
    """A home folder whose user and host have names that every check could print."""
    home = tmp_path / "people" / "jdoe"
    (home / ".cache").mkdir(parents=True)
    home.chmod(0o700)
    (tmp_path / "link").symlink_to(home)
    for name in ("USER", "LOGNAME"):
        monkeypatch.setenv(name, "jdoe")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    monkeypatch.setenv("HOSTNAME", "node7.site.edu")
    monkeypatch.setenv("MPINET_CACHE", str(home / ".cache/mpinet"))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{home}/lib:/scratch/jdoe_files:{tmp_path}/link/mpi")
    monkeypatch.setenv("MPINET_SSH", "ssh -l jdoe gateway.site.edu")
    monkeypatch.setenv("OMPI_MCA_orte_hnp_uri", "1;tcp://gateway.site.edu:4711")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "gateway[1-8]")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "8")
    monkeypatch.setenv("PASSWORD", "sesame")
    monkeypatch.setattr(platform, "node", lambda: "node7")
    monkeypatch.setattr(doctor.sys, "executable", str(home / "env/bin/python"))
    monkeypatch.setattr(doctor, "kept", Kept)  # a process keeps the first folder that it has found
    lost = Examined("two ranks", "does not work", BAD, f"node7 is lost: no {home}/env/mpinet")
    monkeypatch.setattr(doctor, "_two_ranks", lambda: lost)
    monkeypatch.setattr(doctor, "_library", lambda: Examined("MPI library", "Open MPI v5.0.11"))
    monkeypatch.setattr(
        doctor, "_launcher", lambda: Examined("MPI launcher", f"{home}/mpirun (Open MPI) 5.0.11")
    )
    return home


def report(capsys, *words: str) -> tuple[int, str]:
    status = CommandSession(["doctor", "--report", *words]).run()
    return status, capsys.readouterr().out


def test_no_name_of_user_home_or_host_is_printed(home, capsys) -> None:
    status, text = report(capsys)
    assert status == 1  # the two ranks failed
    assert [
        word for word in (*NAMES, str(home), "people", "gateway", "sesame") if word in text
    ] == []
    assert "HOST is lost: no ~/env/mpinet" in text
    assert re.search(r"LD_LIBRARY_PATH +~/lib:/scratch/USER_files:~/mpi\n", text)
    assert re.search(r"SLURM_JOB_NODELIST +\(set\)\n", text)
    assert re.search(r"SLURM_JOB_NUM_NODES +8\n", text)
    # The same names are printed without the option: the masks have removed them.
    assert CommandSession(["doctor"]).run() == 1
    plain = capsys.readouterr().out
    assert "node7 is lost" in plain and str(home) in plain


def test_the_report_holds_what_a_maintainer_asks_for(home, capsys) -> None:
    found = {each["what"]: each["found"] for each in json.loads(report(capsys, "--json")[1])}
    assert found["mpinet"].startswith(f"{__version__} in ")
    assert found["Python"] == f"{platform.python_version()} at ~/env/bin/python"
    assert found["cores"] == f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}"
    assert re.fullmatch(r"0 objects, 0 bytes, in ~/\.cache/mpinet/objects-.*", found["cache"])
    assert "tier " in found["native code"] and "numpy " in found["packages"]
    assert platform.release() in found["system"]
    assert found["MPI launcher"] == "~/mpirun (Open MPI) 5.0.11"
    assert {"memory", "free memory", "MPI library", "they belong together"} <= found.keys()
    assert "PASSWORD" not in found


def test_a_short_name_is_replaced_only_as_a_word() -> None:
    masks = {"al": "USER", "n1": "HOST"}
    assert bugreport.masked("/data/al/n1: all n12 al", masks) == "/data/USER/HOST: all n12 USER"


def test_the_longest_name_is_replaced_first() -> None:
    masks = {"ann": "USER", "/home/ann": "~", "ann-node": "HOST"}
    assert bugreport.masked("/home/ann/x on ann-node", masks) == "~/x on HOST"


def test_users_without_an_entry_are_no_error(home, monkeypatch) -> None:
    monkeypatch.setattr(bugreport.os, "getuid", lambda: 2**31 - 3)
    assert bugreport._masks()["jdoe"] == "USER"


def test_the_forms_for_issues_ask_for_the_report() -> None:
    forms = PACKAGE.parent / ".github/ISSUE_TEMPLATE"
    for name in ("bug", "wrong-result"):
        body = yaml.safe_load((forms / f"{name}.yml").read_text())["body"]
        (field,) = (each for each in body if each.get("id") == "doctor")
        assert "`mpinet doctor --report`" in field["attributes"]["label"]
