"""Which part of the tests' cases a phase of launch/test runs."""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar
from zlib import crc32


class Named(Protocol):
    """A test's case, as pytest collects it."""

    nodeid: str


Item = TypeVar("Item", bound=Named)


def some(cases: Iterable[Any], of: int) -> Sequence[Any]:
    """The first case of a test's loop and every so manieth after it; all for the long tests."""
    return [*cases][:: 1 if os.environ.get("MPINET_LONG") else of]


def outside_of_share(items: Iterable[Item], share: str, first: bool = False) -> set[Item]:
    """What a share of the tests leaves out.

    The cases of a test function are dealt to N shares in an order that only their names decide, so
    that all shares together run every case once, each share its part of every test of N cases or
    more, and all ranks the same. If asked for, a share has the first case of every test, too: the
    one that is written first, and so the smallest.
    """
    mine, shares = map(int, share.split("/"))
    functions = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for name, cases in functions.items():
        kept = cases[0] if first else None
        cases.sort(key=lambda case: (crc32(case.nodeid.encode()), case.nodeid))
        dealt = enumerate(cases, crc32(name.encode()))
        left_out.update(case for k, case in dealt if k % shares != mine and case is not kept)
    return left_out
