"""Which part of the tests' cases a phase of launch/test runs."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol, TypeVar
from zlib import crc32


class Named(Protocol):
    """A test's case, as pytest collects it."""

    nodeid: str


Item = TypeVar("Item", bound=Named)


def outside_of_share(items: Iterable[Item], share: str) -> set[Item]:
    """What a share of the tests leaves out.

    The cases of a test function are dealt to N shares in an order that only their names decide, so
    that all shares together run every case once, each share its part of every test of N cases or
    more, and all ranks the same.
    """
    mine, shares = map(int, share.split("/"))
    functions = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for name, cases in functions.items():
        cases.sort(key=lambda case: (crc32(case.nodeid.encode()), case.nodeid))
        first = crc32(name.encode())
        left_out.update(case for k, case in enumerate(cases, first) if k % shares != mine)
    return left_out
