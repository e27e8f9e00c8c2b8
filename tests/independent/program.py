"""Print what the second implementation finds of each claim, as `verify --independent` reads it."""

import json
import sys

import of_gbsn  # noqa: F401
import of_gmn  # noqa: F401
import of_hdn  # noqa: F401
import of_lens  # noqa: F401
import of_sth  # noqa: F401
from entry import CLAIMS


def main():
    """Measure the claims that are named, or all, and print their verdicts and values."""
    found = {}
    for id in sys.argv[1:] or CLAIMS:
        points = list(CLAIMS[id]())
        holds = bool(points) and all(right for _, _, right in points)
        values = {point: value for point, value, _ in points}
        found[id] = {"verdict": "holds" if holds else "refuted", "values": values}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
