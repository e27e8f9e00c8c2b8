"""What is refused: the list in the reference is all of it, and each says its name."""

import re
from pathlib import Path

import pytest
from mpi.scripts.playing import played

from mpinet.mpi.module import CLASSES, stand_in
from mpinet.mpi.real import REAL
from mpinet.mpi.refusals import LACKING, Unsupported

pytestmark = pytest.mark.mpi

PAGE = Path(__file__).parents[3] / "docs/reference/mpi4py-programs.md"
OURS = Unsupported.__module__
"""Where functions come from that refuse."""


def listed() -> dict[str, str]:
    """By name what the page says that the machine has not, for which it is refused."""
    table = PAGE.read_text().partition("| the machine has | refused |\n")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[1:]]
    return {name: lacks for lacks, names in rows for name in re.findall("`([^`]+)`", names)}


def refusal(use) -> str:
    """What is said where something is refused; "" if it is not."""
    try:
        use()
    except Unsupported as error:
        return str(error)
    except BaseException:
        return ""
    return ""


def refused_members() -> set[str]:
    """The public members that our classes refuse, by class and name, without those inherited."""
    found = set()
    for name, cls in CLASSES.items():
        for member in [one for one in dir(getattr(REAL, name)) if not one.startswith("_")]:
            owner = next(base for base in cls.__mro__ if member in vars(base))
            one = vars(owner)[member]
            call = one.fget if isinstance(one, property) else getattr(one, "__func__", one)
            if getattr(call, "__module__", "") == OURS and refusal(call):
                found.add(f"{name}.{member}")
    return found


def test_the_readme_lists_what_is_refused_and_why():
    assert {name.rpartition(".")[2]: lacks for name, lacks in listed().items()} == LACKING


def test_every_member_of_a_class_is_ours_or_refused_for_what_is_listed():
    refused = refused_members()
    names = {name.rpartition(".")[2] for name in listed()}
    assert {one for one in refused if not set(one.split(".")) & names} == set()
    for name in listed():
        cls, _, member = name.partition(".")
        if cls in CLASSES:
            assert f"{cls}.{member}" in refused


def test_every_member_of_a_class_of_ours_is_no_real_one_that_acts_on_others():
    local = {"Datatype", "Exception", "Info", "Pickle", "Status"}
    for name, cls in CLASSES.items():
        for member in [one for one in dir(getattr(REAL, name)) if not one.startswith("_")]:
            owner = next(base for base in cls.__mro__ if member in vars(base))
            assert vars(REAL).get(owner.__name__) is not owner or name in local, f"{name}.{member}"


def test_every_public_name_is_there_and_what_is_refused_is_listed(tmp_path):
    played(tmp_path, "complete:1", "")
    module, names = stand_in(), {name.partition(".")[2] for name in listed()}
    for name in [one for one in vars(REAL) if not one.startswith("_")]:
        one = getattr(module, name)
        refused = getattr(one, "__module__", "") == OURS and refusal(one)
        assert bool(refused) == (name in names - set(CLASSES)), name
        assert not refused or f"MPI.{name} is not part of the emulated MPI" in refused


def test_a_server_of_other_jobs_is_refused_by_name_and_one_that_is_spawned_works(tmp_path):
    script = """
        import sys
        from mpi4py.futures import server
        from mpinet.mpi.futures.crew import crew_of

        try:
            server.main()
        except NotImplementedError as error:
            say(str(error))
        if rank == 0:
            spawned = MPI.COMM_SELF.Spawn(sys.executable, ["-m", server.__name__], 2)
            crew = crew_of(spawned, True)
            say((crew.size, crew.do((abs, (-7,), {}))))
            crew.end()
            spawned.Disconnect()
    """
    said, _ = played(tmp_path, "complete:4", script, spare=2)
    told = "is not part of the emulated MPI: the machine has no server processes."
    refused = [f"mpi4py.futures.server {told}"]
    assert said == {0: [*refused, (2, (True, 7))], 1: refused, 2: [], 3: []}


def test_help_tells_of_each_member_what_mpi4py_tells_and_its_signature_first(tmp_path):
    for name, cls in CLASSES.items():
        assert cls.__doc__ == getattr(REAL, name).__doc__
        for member in [one for one in dir(getattr(REAL, name)) if not one.startswith("_")]:
            texts = {getattr(getattr(REAL, each), member, None).__doc__ for each in CLASSES}
            told = next(vars(base)[member] for base in cls.__mro__ if member in vars(base))
            told = getattr(told, "__func__", told)
            if getattr(told, "__name__", member) == member:  # a call that has another name, too
                assert told.__doc__ in texts, f"{name}.{member}"
    assert CLASSES["Comm"].Send.__doc__.startswith("Send(self, buf: BufSpec, dest: int, tag: int")
    played(tmp_path, "complete:1", "")
    assert stand_in().Init.__doc__ == REAL.Init.__doc__
    assert stand_in().Register_datarep.__doc__ == REAL.Register_datarep.__doc__
