"""Runs unit tests on all ranks: prints each failure at once, and how many tests ran at the end.

``unit_tests.py FOLDER MODULE[.CLASS] [TEST ..]``: the tests that are named are left out.
"""

import sys
import unittest

from mpi4py import MPI


class Outcome(unittest.TestResult):
    """Prints failures at once: ranks that have gone on may wait for this one for ever."""

    def addError(self, test, error):  # noqa: N802
        """Print what a test has raised, whether an assertion has failed or anything else."""
        super().addError(test, error)
        rank = MPI.COMM_WORLD.Get_rank()
        print(f"FAILED {test.id()} on rank {rank}: {self.errors[-1][1]}")

    addFailure = addError  # noqa: N815


def wanted(suite: unittest.TestSuite, left_out: set[str]) -> unittest.TestSuite:
    """The tests of a suite, without some."""
    found = unittest.TestSuite()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            found.addTests(wanted(test, left_out))
        elif test.id() not in left_out:
            found.addTest(test)
    return found


def imported(folder: str, name: str) -> unittest.TestSuite:
    """The tests of a module or class, without those of arrays on a GPU."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    arrays = __import__("arrayimpl")
    arrays.ArrayBackends[:] = [one for one in arrays.ArrayBackends if one.backend != "numba"]
    return unittest.defaultTestLoader.loadTestsFromName(name)


def main(folder: str, name: str, *left_out: str) -> None:
    """Run the tests of a module or class."""
    outcome = Outcome()
    wanted(imported(folder, name), set(left_out)).run(outcome)
    counts = outcome.testsRun, len(outcome.skipped), len(outcome.errors)
    together = MPI.COMM_WORLD.gather(counts)
    if together:
        print(f"RAN {counts[0]}, SKIPPED {counts[1]}, FAILED {sum(one[2] for one in together)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
