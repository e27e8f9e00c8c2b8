"""Errors of native kernels and rules: kinds and texts are those of plain Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mpinet
from mpinet.base.arguments import DecideRule, PortRule
from mpinet.base.arrays import Ints
from mpinet.base.native.background import WATCH
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.compiled import Kernel, Mapped, Rule, inlined, kernel, phase
from mpinet.errors import RuleError

SMALLEST = -(2**63)


@inlined
def divided(a, b):
    """Divide in a callee."""
    return a // b


@phase
def phase_fails(a):
    """Fail in a phase."""
    if a == 1:
        raise ValueError("it is 1")
    return a


@kernel
def failing(how: int, a: int, b: int) -> int:
    """Fail in a way."""
    if how == 0:
        return a // b
    if how == 1:
        return a % b
    if how == 2:
        return divided(a, b)
    if how == 3:
        raise ValueError("a sentence: with a colon, é and two  spaces")
    if how == 4:
        raise ValueError
    if how == 5:
        raise MemoryError("no room")
    if how == 6:
        return phase_fails(a)
    if how == 7:
        raise OverflowError("5", 6)
    if how == 8:
        return int(np.int64(a) / b)
    return a


FAILURES = {
    0: (ZeroDivisionError, r"division by zero|modulo by zero"),
    1: (ZeroDivisionError, r"division by zero|modulo by zero"),
    2: (ZeroDivisionError, r"division by zero|modulo by zero"),
    3: (ValueError, "^a sentence: with a colon, é and two  spaces$"),
    4: (ValueError, "^$"),
    5: (MemoryError, "^no room$"),
    6: (ValueError, "^it is 1$"),
    8: (ZeroDivisionError, "division by zero"),
}


def both(loop: Kernel) -> list[Callable[..., Any]]:
    """A kernel as native code, and as plain Python."""
    assert WATCH.address(loop) or tier() == PLAIN
    return [loop.run, loop.plainly]


@pytest.mark.parametrize("how", FAILURES)
def test_errors_have_the_kind_and_the_text_of_plain_python(how: int) -> None:
    kind, text = FAILURES[how]
    for run in both(failing):
        for _ in range(3):
            with pytest.raises(kind, match=text) as caught:
                run(how, 1, 0)
            assert type(caught.value) is kind
            assert run(9, 5, 0) == 5


@kernel
def largest(numbers: Ints) -> int:
    """Call what only Numba's own process has: as native code, it would be called at address 0."""
    return numbers.max()


def test_code_that_no_process_can_run_is_refused() -> None:
    numbers = np.array([3, 9, 4])
    assert largest.plainly(numbers) == 9
    if tier() != PLAIN:
        with pytest.raises(RuntimeError, match="compiled code has no function numba_"):
            largest(numbers)


def most(node, port, params):
    """A user's rule that calls the same."""
    return (node + params.max()) % params[0]


def test_a_rule_that_no_process_can_run_as_native_code_runs_as_plain_python() -> None:
    nodes = np.arange(200)
    mapped = Mapped(Rule(most), np.array([200, 2, 7]))
    assert mapped(nodes, 0).tolist() == nodes.tolist()


def test_whole_numbers_divide_as_in_python() -> None:
    values = [-7, -1, 1, 2, 9, 2**62, -(2**62)]
    for run in both(failing):
        for a in values:
            for b in values:
                assert (run(0, a, b), run(1, a, b), run(2, a, b)) == (a // b, a % b, a // b)


@kernel
def total(rule: PortRule, params: Ints, count: int, seen: Ints) -> int:
    """Add up a rule's values, and write how far it came."""
    value = rule.call
    found = 0
    for node in range(count):
        seen[0] = node
        found += value(node, 0, params)
    return found


def of_mpinet(text: str) -> Rule:
    """A rule of the package."""
    scope: dict[str, Any] = {"np": np, "__name__": "mpinet.trial"}
    exec(f"def trial(node, port, params):\n    {text}", scope)
    return Rule(scope["trial"])


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("return 10 // (5 - node)", ZeroDivisionError, "zero"),
        ("if node == 5: raise ValueError('five')\n    return node", ValueError, "^five$"),
    ],
)
def test_an_error_in_a_rule_ends_the_kernel_that_calls_it(
    text: str, kind: type[Exception], said: str
) -> None:
    rule, params, seen = of_mpinet(text), np.zeros(1, np.int64), np.zeros(1, np.int64)
    form, native = rule.native, rule.native.address
    assert native or tier() == PLAIN
    for run in both(total):
        for address in (native, 0):
            form.address = address
            with pytest.raises(kind, match=said):
                run(form, params, 9, seen)
            assert seen[0] == 5
            # No error is left behind in the rule.
            assert run(form, params, 5, seen) == sum(rule(node, 0, params) for node in range(5))
        form.address = native


def test_the_smallest_number_is_no_error() -> None:
    rule, params = of_mpinet(f"return {SMALLEST} + node"), np.zeros(1, np.int64)
    seen = np.zeros(1, np.int64)
    form, native = rule.native, rule.native.address
    assert native or tier() == PLAIN
    for run in both(total):
        for address in (native, 0):
            form.address = address
            assert run(form, params, 1, seen) == SMALLEST
        form.address = native


def users(node, port, params):
    """A user's rule that Numba cannot compile."""
    steps = dict(enumerate(params))
    return steps[node] if node != 3 else steps[node] // (node - 3)


def test_an_exception_in_a_callback_has_the_users_line(capsys: pytest.CaptureFixture[str]) -> None:
    rule, seen = Rule(users), np.zeros(1, np.int64)
    params = np.arange(10, 20)
    for run in both(total):
        assert run(rule.native, params, 3, seen) == 33
        line = users.__code__.co_firstlineno + 3
        with pytest.raises(
            RuleError, match=rf"test_errors\.py:{line}: users\(3, 0, \.\.\) raised ZeroDivision"
        ):
            run(rule.native, params, 9, seen)
        assert seen[0] == 3
        with pytest.raises(RuleError, match=rf"{line}: users\(0, 0, \.\.\) raised KeyError: 0"):
            run(rule.native, params[:0], 9, seen)
    assert rule.native.address == 0
    assert capsys.readouterr().err.count("users cannot be compiled") == (tier() != PLAIN)


def interrupted(node, port, params):
    """A rule that is interrupted as by Ctrl-C, and that Numba cannot compile."""
    if node == 4:
        raise KeyboardInterrupt
    return len({node})


def test_ctrl_c_in_a_callback_ends_the_kernel() -> None:
    rule, params, seen = Rule(interrupted), np.zeros(1, np.int64), np.zeros(1, np.int64)
    for run in both(total):
        with pytest.raises(KeyboardInterrupt):
            run(rule.native, params, 9, seen)
        assert seen[0] == 4 and run(rule.native, params, 4, seen) == 4


@kernel
def decided(rule: DecideRule, header: Ints, params: Ints) -> int:
    """Ask a rule that writes."""
    return rule.call(2, header, params)


def writes(node, header, params):
    """Write into the header, in a way that Numba cannot compile."""
    header[0] += sum([each for each in params])
    return len({"": node}) - 1


def test_callbacks_write_into_the_kernels_arrays() -> None:
    for run in both(decided):
        header = np.zeros(2, np.int64)
        assert run(Rule(writes).native, header, np.arange(5)) == 0
        assert header.tolist() == [10, 0]


def test_a_network_of_plain_rules_gives_what_a_native_one_gives() -> None:
    plain = mpinet.open(f"{__file__}:Slow:12")
    ring = mpinet.open("ring:12")
    nodes = np.arange(12).repeat(50)
    assert plain.neighbor(nodes, 0).tolist() == ring.neighbor(nodes, 0).tolist()
    assert plain.neighbor.native.address == 0
    ours, theirs = (mpinet.flood(each) for each in (plain, ring))
    assert ours.steps == 6
    assert (ours.steps, ours.messages) == (theirs.steps, theirs.messages)


class Slow(mpinet.Topology):
    """A ring whose rule Numba cannot compile."""

    def __init__(self, n: int):
        super().__init__(f"{n}", size=n, ports=2)

    @mpinet.rule
    def neighbor(node, port, params):
        ways = {0: 1, 1: -1}
        return (node + ways[port]) % params[0]
