"""Runs unit tests on all ranks: prints each failure at once, and how many tests ran at the end.

``unit_tests.py FOLDER MODULE[.CLASS],.. [TEST ..]``: the tests that are named are left out. With
the environment variable UNIT_TEST_NOTES, a folder, every rank notes there what becomes of each
test, in a file of its number: a run that hangs is known by the test that has begun.
"""

import os
import sys
import unittest
from pathlib import Path

from mpi4py import MPI


class Outcome(unittest.TestResult):
    """Prints failures at once: ranks that have gone on may wait for this one for ever."""

    def __init__(self):
        super().__init__()
        self.rank = MPI.COMM_WORLD.Get_rank()
        self.folder = os.environ.get("UNIT_TEST_NOTES")

    def note(self, outcome, test):
        """Note what has become of a test."""
        if self.folder:
            with (Path(self.folder) / str(self.rank)).open("a") as notes:
                print(outcome, test.id().replace(" ", "_"), file=notes)

    def startTest(self, test):  # noqa: N802
        """Note that a test begins."""
        super().startTest(test)
        self.note("begins", test)

    def addSuccess(self, test):  # noqa: N802
        """Note a test that has passed."""
        super().addSuccess(test)
        self.note("passes", test)

    def addSkip(self, test, reason):  # noqa: N802
        """Note a test that is skipped."""
        super().addSkip(test, reason)
        self.note("skips", test)

    def addError(self, test, error):  # noqa: N802
        """Print what a test has raised, whether an assertion has failed or anything else."""
        super().addError(test, error)
        self.note("fails", test)
        print(f"FAILED {test.id()} on rank {self.rank}: {self.errors[-1][1]}", flush=True)

    addFailure = addError  # noqa: N815

    def addSubTest(self, test, subtest, error):  # noqa: N802
        """Print what a part of a test has raised."""
        if error is not None:
            self.addError(test, error)


def wanted(suite: unittest.TestSuite, left_out: set[str]) -> unittest.TestSuite:
    """The tests of a suite, without some."""
    found = unittest.TestSuite()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            found.addTests(wanted(test, left_out))
        elif test.id() not in left_out:
            found.addTest(test)
    return found


def imported(folder: str, names: str) -> unittest.TestSuite:
    """The tests of modules or classes, without those of arrays on a GPU."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    arrays = __import__("arrayimpl")
    arrays.ArrayBackends[:] = [one for one in arrays.ArrayBackends if one.backend != "numba"]
    found = unittest.TestSuite()
    for name in names.split(","):
        try:
            found.addTests(unittest.defaultTestLoader.loadTestsFromName(name))
        except Exception as error:
            print(f"FAILED {name} cannot be imported: {error}", flush=True)
    return found


def main(folder: str, names: str, *left_out: str) -> None:
    """Run the tests of modules or classes."""
    outcome = Outcome()
    wanted(imported(folder, names), set(left_out)).run(outcome)
    counts = outcome.testsRun, len(outcome.skipped), len(outcome.errors)
    together = MPI.COMM_WORLD.gather(counts)
    if together:
        print(f"RAN {counts[0]}, SKIPPED {counts[1]}, FAILED {sum(one[2] for one in together)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
