"""Seed of Python's string hashes, which determines the iteration order of sets.

By default Python draws a new seed at every start, so two runs, or two ranks, may iterate over a set
in different orders. Commands that run user code therefore restart their own program with a known
seed.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

VARIABLE = "PYTHONHASHSEED"

OWN = "MPINET_HASHSEED"
"""Variable with the seed chosen by mpinet; a different seed was chosen by the user."""

SEEDS = 2**32

RUN_USERS_CODE = "exec", "run", "sweep", "resume"
"""Commands that run user code on every processor."""

PROGRAMS = "/mpinet", "/mpinet/__main__.py"
"""Endings of the path of the command-line program."""


def hash_seed() -> int | None:
    """Return the hash seed of this process; None if Python has drawn a random seed."""
    if not sys.flags.hash_randomization:
        return 0
    text = "" if sys.flags.ignore_environment else os.environ.get(VARIABLE, "")
    return int(text) if text.isdecimal() else None


def settle(typed: Sequence[str], is_launched: bool, before: Callable[[], object]) -> None:
    """Restart ``mpinet`` with the hash seed given by its command line, if needed.

    Parameters
    ----------
    typed : sequence of str
        The words after ``mpinet``.
    is_launched : bool
        True if a launcher has started this process.
    before : callable
        Called right before the restart.
    """
    command = next((word for word in typed if not word.startswith("-")), "")
    if is_launched or command in RUN_USERS_CODE:
        start_again(typed, PROGRAMS, _seed(typed) % SEEDS, before)


def settings(typed: Sequence[str]) -> dict[str, str]:
    """Return environment variables with which ranks need no restart; empty if the user set a seed.

    Parameters
    ----------
    typed : sequence of str
        Words of the command that a launcher is about to start.
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
    """Restart this process's program with a hash seed, unless a seed is already set.

    Nothing happens if `typed` or the program's path does not match this process.

    Parameters
    ----------
    typed : sequence of str
        The words after the program's name.
    programs : tuple of str
        Endings of the program's path.
    seed : int
        The seed, 0..2^32-1.
    before : callable
        Called right before the restart.
    """
    known, words = os.environ.get(VARIABLE), list(sys.orig_argv)
    is_settled = known and (known == str(seed) or known != os.environ.get(OWN))
    # An embedding program or a test runner has a different command line; it must not be replaced by
    # exec.
    is_whole = words[len(words) - len(typed) :] == list(typed)
    is_own = os.path.abspath(sys.argv[0]).endswith(programs)
    if is_settled or not (is_whole and is_own) or sys.flags.ignore_environment:
        return
    before()
    with suppress(OSError):
        environment = os.environ | {VARIABLE: str(seed), OWN: str(seed)}
        os.execve(sys.executable, [sys.executable, *words[1:]], environment)


def _seed(typed: Sequence[str]) -> int:
    """Return the value of ``--seed`` before the words of a user's script; 0 without the option."""
    found = "0"
    for word, following in zip(typed, [*typed[1:], ""], strict=True):
        if word.endswith(".py") or word in ("-m", "-c", "--"):
            break
        if word == "--seed":
            found = following
        elif word.startswith("--seed="):
            found = word.removeprefix("--seed=")
    return int(found) if found.isdecimal() else 0
