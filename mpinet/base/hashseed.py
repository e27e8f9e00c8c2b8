"""Seed of the hashes of strings, by which Python orders sets.

Python draws the seed when it starts: two runs, or two ranks, iterate over a set in other orders.
A command that runs users' code starts its own program again with a known seed.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

VARIABLE = "PYTHONHASHSEED"

OWN = "MPINET_HASHSEED"
"""Variable that says which seed mpinet has chosen itself: any other is the user's."""

SEEDS = 2**32

RUN_USERS_CODE = "exec", "run", "sweep", "resume"
"""Commands that run users' code on every processor."""

PROGRAMS = "/mpinet", "/mpinet/__main__.py"
"""Ends of the paths that the program may have which people start."""


def hash_seed() -> int | None:
    """Return the seed of this process; None if Python has drawn one."""
    if not sys.flags.hash_randomization:
        return 0
    text = "" if sys.flags.ignore_environment else os.environ.get(VARIABLE, "")
    return int(text) if text.isdecimal() else None


def settle(typed: Sequence[str], is_launched: bool, before: Callable[[], object]) -> None:
    """Start ``mpinet`` again with the hash seed that its words determine, where that is needed.

    Parameters
    ----------
    typed : sequence of str
        The words after ``mpinet``.
    is_launched : bool
        Whether a launcher has started this process.
    before : callable
        Called right before the program starts again.
    """
    command = next((word for word in typed if not word.startswith("-")), "")
    if is_launched or command in RUN_USERS_CODE:
        start_again(typed, PROGRAMS, _seed(typed) % SEEDS, before)


def settings(typed: Sequence[str]) -> dict[str, str]:
    """Return the environment in which ranks need not start again; empty if the user has a seed.

    Parameters
    ----------
    typed : sequence of str
        The words of the command that a launcher is about to start.
    """
    known = os.environ.get(VARIABLE)
    if known and known != os.environ.get(OWN):
        return {}
    seed = str(_seed(typed) % SEEDS)
    return {VARIABLE: seed, OWN: seed}


def start_again(
    typed: Sequence[str],
    programs: tuple[str, ...],
    seed: int = 0,
    before: Callable[[], object] = bool,
) -> None:
    """Start this process's program again with a hash seed, unless it or the user has done that.

    Nothing happens where the program's words are not those of the process.

    Parameters
    ----------
    typed : sequence of str
        The words after the program's name.
    programs : tuple of str
        Ends of the paths that the program may have.
    seed : int
        The seed, 0..2^32-1.
    before : callable
        Called right before.
    """
    known, words = os.environ.get(VARIABLE), list(sys.orig_argv)
    is_settled = known and (known == str(seed) or known != os.environ.get(OWN))
    # An embedding program or a test runner has other words; it must not be replaced by exec.
    is_whole = words[len(words) - len(typed) :] == list(typed)
    is_own = os.path.abspath(sys.argv[0]).endswith(programs)
    if is_settled or not (is_whole and is_own) or sys.flags.ignore_environment:
        return
    before()
    with suppress(OSError):
        environment = os.environ | {VARIABLE: str(seed), OWN: str(seed)}
        os.execve(sys.executable, [sys.executable, *words[1:]], environment)


def _seed(typed: Sequence[str]) -> int:
    """Return the number that ``--seed`` has before a script's own words; 0 without one."""
    found = "0"
    for word, following in zip(typed, [*typed[1:], ""], strict=True):
        if word.endswith(".py") or word in ("-m", "-c", "--"):
            break
        if word == "--seed":
            found = following
        elif word.startswith("--seed="):
            found = word.removeprefix("--seed=")
    return int(found) if found.isdecimal() else 0
