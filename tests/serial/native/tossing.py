"""Kernels and rules that change their form at random: native, plain, or plain and given up."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mpinet.base.native import background, calls
from mpinet.base.native.background import WATCH
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.compiled import Kernel


class Forms:
    """The native forms of kernels and rules, to which they return."""

    def __init__(self) -> None:
        self._kernels: dict[str, Callable[..., Any]] = {}
        self._rules: dict[int, tuple[Any, int]] = {}

    def kernel(self, kernel: Kernel) -> Callable[..., Any]:
        """Return a kernel's native code; its plain form in a run of plain Python."""
        if tier() == PLAIN:
            return kernel.plainly
        if kernel.fingerprint not in self._kernels:
            address, arguments = WATCH.address(kernel), kernel._arguments
            assert address
            self._kernels[kernel.fingerprint] = calls.kernel(
                address, arguments.forms, arguments.result
            )
        return self._kernels[kernel.fingerprint]

    def toss_rules(self, args: Any, draws: Callable[[], bool]) -> None:
        """Give each rule among the arguments its native code, or none."""
        for each in args:
            if isinstance(each, tuple):
                self.toss_rules(each, draws)
            elif isinstance(each, calls.RuleForm):
                _, address = self._rules.setdefault(id(each), (each, each.address))
                each.address = address if draws() else 0

    def restore(self) -> None:
        """Give all rules their native code."""
        for rule, address in self._rules.values():
            rule.address = address


@contextmanager
def tossed(seed: int) -> Iterator[set[str]]:
    """Toss a coin at each call of a kernel in this context; yield what it has shown."""
    draws, shown, forms, over = random.Random(seed), set[str](), Forms(), threading.Event()

    def toss() -> bool:
        return draws.random() < 0.5

    def run(kernel: Kernel) -> Callable[..., Any]:
        def tossed_run(*args: Any) -> Any:
            forms.toss_rules(args, toss)
            if toss():
                shown.add("native")
                return forms.kernel(kernel)(*args)
            shown.add("plain")
            return WATCH.run(kernel, kernel.plainly, args)

        return tossed_run

    def give_up() -> None:
        throws = random.Random(seed)
        while not over.is_set():
            time.sleep(throws.random() * 0.003)
            call = WATCH.call
            if call is not None and call.copies is not None and not call.wanted:
                shown.add("given up")
                WATCH.give_up(call)

    thread = threading.Thread(target=give_up)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "run", property(run))
        patch.setattr(background, "SHORT", 0.0)
        patch.setattr(WATCH, "_watches", True)
        thread.start()
        try:
            yield shown
        finally:
            over.set()
            thread.join()
            forms.restore()


@contextmanager
def plain() -> Iterator[None]:
    """Run all kernels and rules as plain Python in this context."""
    forms = Forms()

    def run(kernel: Kernel) -> Callable[..., Any]:
        def plain_run(*args: Any) -> Any:
            forms.toss_rules(args, lambda: False)
            return kernel.plainly(*args)

        return plain_run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "run", property(run))
        try:
            yield
        finally:
            forms.restore()
