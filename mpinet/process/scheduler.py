"""Execution of a program on all processors, step by step; only active processors cost time.

Each processor continues until its action needs a step or blocks. Then the ranks agree on whether
another step is needed, and the machine makes one step with all sends.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import ModelViolation, MpinetError, ProgramError, UsageError
from mpinet.machine import Machine
from mpinet.process import deadlock, violation
from mpinet.process.actions import (
    COMPUTING,
    LEFT,
    OVER,
    ROUTED,
    Action,
    Exchange,
    Idle,
    Receive,
    ReceiveEach,
    Route,
    Send,
    Waiting,
)
from mpinet.process.hosting import Hosting
from mpinet.process.mail import Arrived, Letters, StepOutbox, carry
from mpinet.process.node import NOT_YIELDED, Node
from mpinet.process.post import Post
from mpinet.process.values import pack
from mpinet.process.where import ended_at, raised_at, suspended_at

Program = Callable[..., Any]
Ready = list[tuple[Node, Action]]
"""Processors that continue, each with its ended action."""

PROCESSOR, MESSAGE = 600, 150
"""Minimum memory of a processor with its program, and of a message, in bytes."""


class Scheduler:
    """A run of a program on the hosted processors.

    Parameters
    ----------
    machine : Machine
        The machine. Its switches run no program.
    program : callable
        ``program(node, *arguments, **named)``: a generator function of `Node`.
    arguments, named
        Positional and keyword arguments of every processor's program, after the node.
    seed : int
        Seed of the processors' random numbers.
    routing : str or None
        Routing of routed messages.
    """

    def __init__(
        self,
        machine: Machine,
        program: Program,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        seed: int,
        routing: str | None,
    ):
        self.machine = machine
        most = machine.placement.most
        require_memory(PROCESSOR * most, f"A program on {machine.topology.size} processors")
        self.hosting = Hosting(machine, seed)
        hosts = machine.topology.hosts
        self.nodes: list[Node | None] = [
            Node(self.hosting, slot, number) if number < hosts else None
            for slot, number in enumerate(machine.nodes.tolist())
        ]
        """Processors by slot; None for switches and for processors whose program has ended."""
        self.values: list[Any] = [None] * len(self.nodes)
        """Packed return values of the programs, by slot."""
        self.unreceived: Ints = np.zeros(len(self.nodes), np.int64)
        """Number of unreceived messages of each processor whose program has ended. Shape
        (hosted,).
        """
        self._start: Callable[[Node], Any] = lambda node: program(node, *arguments, **named)
        self._running = np.array([node is not None for node in self.nodes], bool)
        self._senders: list[Node] = []
        self._outbox = StepOutbox()
        self._post = Post(machine, routing)
        self._timers: dict[int, list[tuple[Node, Action]]] = {}
        self._timed = 0
        self._routes = self._sets_out = False
        self._sent = self._letters()
        self._failed: tuple[int, str] | None = None
        self._calls = machine.trace.calls if machine.trace else None
        self._perform: dict[type, Callable[[Node, Any], bool]] = {
            Send: self._send,
            Exchange: self._send,
            Route: self._route,
            Idle: self._idle,
            Receive: self._wait,
            ReceiveEach: self._wait,
        }

    def run(self) -> None:
        """Run all programs to their end (collective).

        Raises
        ------
        ModelViolation
            A processor violates the port model.
        ProgramError
            A program fails.
        Deadlock
            Processors wait for messages that no processor will send.
        """
        try:
            self._run_all()
        except ModelViolation as refused:
            violation.explain(self.machine, self.nodes, self._sent, refused)

    def _run_all(self) -> None:
        """Alternate between continuing the processors and making a step of the machine."""
        ready: Ready = [(node, COMPUTING) for node in self.nodes if node is not None]
        while True:
            # Each processor runs up to its next step before the machine makes any step. Computation
            # takes no time, so the order of processors does not affect results.
            for node, action in ready:
                self._advance(node, action)
            if not self._agree_to_go_on():
                return
            ready = self._step()

    # ---- work of one processor up to its next step

    def _advance(self, node: Node, done: Action) -> None:
        """Resume a program with its action's result, until an action needs a step or blocks."""
        try:
            if self._calls is not None and done is not COMPUTING:
                self._calls.note(node.id, node._since, self.hosting.step, _site(done))
            thread = node._thread or self._begin(node)
            if thread is None:
                return
            while True:
                action: Any = thread.send(done.result)
                # A program that creates an action without yielding it is a frequent mistake.
                # Without this check the action would be lost silently.
                if node._made is None or action is not node._made:
                    self._fail(node, suspended_at(thread), _no_action(action, node))
                    return
                node._made = None
                if not self._perform[type(action)](node, action):
                    return
                done = action
                if self._calls is not None:
                    self._calls.note(node.id, self.hosting.step, self.hosting.step, _site(done))
        except StopIteration as ended:
            self._end(node, ended.value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._fail_by(node, error)

    def _begin(self, node: Node) -> Generator[Action, Any, Any] | None:
        """Start a processor's program; return None if it ended because it has no ``yield``."""
        thread = self._start(node)
        if isinstance(thread, GeneratorType):
            node._thread = thread
            return thread
        self._end(node, thread)
        return None

    def _send(self, node: Node, action: Send) -> bool:
        self._outbox.add(node.id, action.parcels)
        return self._act(node, action)

    def _route(self, node: Node, action: Route) -> bool:
        self._post.hand_over(node.id, action.target, action.value)
        return self._act(node, action)

    def _act(self, node: Node, action: Action) -> bool:
        """Register an action for the next step; return whether the processor continues at once."""
        node._action, node._since = action, self.hosting.step
        self._senders.append(node)
        return False

    def _idle(self, node: Node, action: Idle) -> bool:
        if action.steps:
            self._stay(node, action, action.steps)
        return not action.steps

    def _wait(self, node: Node, action: Waiting) -> bool:
        """Take arrived messages or block; return whether the arrived messages suffice."""
        node.arrival_port = None
        if action.is_over or _takes(node, action) or action.limit == 0:
            return True
        self._stay(node, action, action.limit)
        return False

    def _stay(self, node: Node, action: Action, steps: int | None) -> None:
        """Block a processor on its action, for a limited number of steps if `steps` is given."""
        node._action, node._since = action, self.hosting.step
        if steps is not None:
            self._timed += 1
            # Timers are stored by step, so time limits cost nothing in steps in which no timer
            # ends.
            self._timers.setdefault(self.hosting.step + steps, []).append((node, action))

    def _end(self, node: Node, value: Any) -> None:
        """End a processor: store its return value and count its unreceived messages."""
        if node._made is not None:
            self._fail(node, ended_at(node._thread), NOT_YIELDED)
            return
        try:
            self.values[node._slot] = pack(value)
        except UsageError as error:
            self._fail(node, ended_at(node._thread), str(error))
            return
        self.unreceived[node._slot] += len(node._mail)
        self._running[node._slot] = False
        self.nodes[node._slot] = None

    def _fail_by(self, node: Node, error: BaseException) -> None:
        """Record a program's error: its traceback, or the sentence of an mpinet error."""
        where = raised_at(error.__traceback__) or suspended_at(node._thread)
        if isinstance(error, MpinetError):
            self._fail(node, where, str(error))
            return
        reason = "".join(traceback.format_exception_only(error)).strip()
        lines = traceback.format_exception(error.with_traceback(_users(error)))
        self._fail(node, where, f"{reason}\n{''.join(lines).rstrip()}")

    def _fail(self, node: Node, where: str, sentence: str) -> None:
        """Record a processor's failure; among several in one step, keep the lowest one."""
        if self._failed is None or node.id < self._failed[0]:
            after = f"after step {self.hosting.step}"
            text = f"Processor {node.id} {after}, {where}: {sentence}"
            self._failed = node.id, text if text[-1] in ".!?" or "\n" in text else f"{text}."
        self.nodes[node._slot] = None

    # ---- collective work of all ranks

    def _agree_to_go_on(self) -> bool:
        """Return whether any rank needs another step; False after the end (collective)."""
        new, old = self._post.handed_over > 0, self._post.in_flight > 0
        acts = len(self._senders) + self._timed > 0
        failed, runs = self._failed is not None, bool(self._running.any())
        # One small collective decides on the next step for all ranks. A rank without work still
        # takes part in the step.
        failed, new, old, acts, runs = self._anywhere(failed, new, old, acts, runs)
        if failed:
            self._raise_failure()
        if self._routes and not old:
            self._post.finish()
        self._sets_out, self._routes = new, new or old
        if acts or old:
            return True
        if runs:
            deadlock.explain(self.machine, self.hosting, self.nodes)
        return False

    def _anywhere(self, *flags: bool) -> list[bool]:
        """Combine up to five flags of all ranks with "or" in one small collective."""
        transport = self.machine.transport
        base = transport.size + 1
        # Each flag is a digit. The base exceeds the number of ranks, so each digit of the sum shows
        # how many ranks have set the flag.
        word = sum(flag * base**place for place, flag in enumerate(flags))
        nobody = np.zeros(transport.size, np.int64)
        total = transport.exchange(np.empty((0, 0), np.uint8), nobody, word).total
        return [total // base**place % base > 0 for place in range(len(flags))]

    def _raise_failure(self) -> None:
        """Raise the failure of the lowest processor on every rank."""
        own = -self._failed[0] if self._failed else -self.machine.topology.size
        lowest = self.machine.max(own)[0]
        if self._failed and lowest == own:
            self.machine.transport.fail(ProgramError(self._failed[1]))
        self.machine.sum(0)

    def _step(self) -> Ready:
        """Make a step; return the processors that continue, with their ended actions."""
        self.machine.checked(self._require_room)
        self._sent = self._letters()
        self._outbox = StepOutbox()
        if self._sets_out:
            self._post.set_out()
        step = self._post.step if self._routes else self.machine.step
        arrived = carry(self.machine, self._sent, step)
        self.hosting.step += 1
        ready: Ready = []
        # Senders come before receivers: an exchange must already wait for an answer that arrives in
        # the same step.
        self._release_senders(ready)
        self._deliver(arrived, ready)
        # Timers come last: a message that arrives in the last step of a limit is in time.
        self._release_timed(ready)
        return ready

    def _require_room(self) -> None:
        """Raise an error if the messages of a step need more memory than the host has."""
        sends = self._outbox.count
        what = f"Step {self.hosting.step + 1}, in which a rank's processors send {sends} messages,"
        require_memory(MESSAGE * sends, what)

    def _letters(self) -> Letters:
        """Return the messages that this rank's processors send in this step."""
        return Letters(*self.machine.checked(self._outbox.sends), self._outbox.values)

    def _release_senders(self, ready: Ready) -> None:
        """Continue processors that have sent; an exchange first waits for its answer."""
        senders, self._senders = self._senders, []
        for node in senders:
            action: Any = node._action
            node._action = COMPUTING
            if type(action) is not Exchange:
                ready.append((node, action))
            elif self._wait(node, action.answer):
                ready.append((node, action.answer))

    def _deliver(self, arrived: Arrived, ready: Ready) -> None:
        """Deliver messages to waiting processors, and store messages for other processors."""
        inbox = arrived.inbox
        places, slots = self._for_the_running(inbox.nodes)
        self._give(slots, inbox.ports[places].tolist(), arrived.values(places), ready)
        if self._routes:
            targets, routed = self._post.take()
            places, slots = self._for_the_running(targets)
            values = [routed[place] for place in places.tolist()]
            self._give(slots, [ROUTED] * len(values), values, ready)

    def _for_the_running(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return positions and slots of messages to running programs; count the rest."""
        slots, places = self.machine.slots(nodes), np.arange(len(nodes))
        running = self._running[slots]
        if running.all():
            return places, slots
        self.unreceived += np.bincount(slots[~running], minlength=len(self.nodes))
        return places[running], slots[running]

    def _give(self, slots: Ints, ports: list[int], values: list[Any], ready: Ready) -> None:
        """Deliver messages to their receivers in order."""
        nodes: list[Any] = self.nodes
        for slot, port, value in zip(slots.tolist(), ports, values, strict=True):
            node = nodes[slot]
            action = node._action
            outcome = action.offer(port, value)
            if outcome == LEFT:
                node._mail.append((port, value))
                continue
            node.arrival_port = port
            if outcome == OVER:
                node._action = COMPUTING
                self._timed -= action.limit is not None
                ready.append((node, action))

    def _release_timed(self, ready: Ready) -> None:
        """Continue processors whose time limit has ended."""
        for node, action in self._timers.pop(self.hosting.step, ()):
            # A message may have ended the wait earlier. The timer is then stale, because removing
            # timers from the table is expensive.
            if node._action is action:
                node._action = COMPUTING
                self._timed -= 1
                ready.append((node, action))


def _site(action: Action) -> tuple[str, str, int]:
    """Return the name of an action as a call site for recordings."""
    return type(action).__name__.lower(), "", 0


def _takes(node: Node, action: Waiting) -> bool:
    """Offer stored messages to an action; return whether its wait is over."""
    mail, place = node._mail, 0
    while place < len(mail):
        port, value = mail[place]
        outcome = action.offer(port, value)
        if outcome == LEFT:
            place += 1
            continue
        del mail[place]
        node.arrival_port = port
        if outcome == OVER:
            return True
    return False


def _no_action(yielded: Any, node: Node) -> str:
    """Return an error message for a yielded object that is not the processor's next action."""
    if isinstance(yielded, Action):
        return "an action must be yielded once, by its own processor, before it creates another"
    unused = f"; {NOT_YIELDED}" if node._made is not None else ""
    return f"the program yields {yielded!r}, not an action such as node.send(..){unused}"


def _users(error: BaseException) -> Any:
    """Return the traceback from the first line of the user's program on."""
    return error.__traceback__.tb_next if error.__traceback__ else None
