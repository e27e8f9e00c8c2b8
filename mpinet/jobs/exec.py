"""``mpinet exec``: run an unchanged mpi4py script on every processor."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from mpinet.base.arrays import Ints
from mpinet.base.files import require_writable, whole_file, write_text
from mpinet.commands.exec import ExecOptions
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import (
    joined,
)
from mpinet.errors import UsageError
from mpinet.jobs.faults import failures_of
from mpinet.jobs.machinejob import MachineJob, refuse_checkpoint
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.jobs.scriptcosts import (
    COSTS,
    HOT,
    conflicts_text,
    hot_tables,
    kinds_table,
    lines_table,
    open_text,
    orders_text,
)
from mpinet.machine.transport import Local
from mpinet.report.rows import Row, by_name
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.mpi.checks.findings import Finding
    from mpinet.mpi.outcome import Conflicting, ScriptOutcome
    from mpinet.mpi.source import Source
    from mpinet.mpi.world.accounts import Account
    from mpinet.mpi.world.orders import Orders, PrefixReplay

PROCESSOR = 1 << 13
"""Smallest memory of a processor with its script, in bytes."""


MOST_FACTOR = 10**6
"""Largest factor of ``--compute``."""


MOST_ORDERS = 1000
"""Default of the largest number of runs in different orders."""


def prepare(options: ExecOptions) -> Job:
    """Find the network, the script and the processors of its ranks, and return the job."""
    from mpinet.mpi.world.options import eager_of

    topology = topology_named(options.on)
    refuse_checkpoint(options.line.checkpoint, "a script")
    # The routing is opened here only for its error checks. Each run of the script opens it again.
    if options.routing is not None:
        routing_of(topology, options.routing)
    if options.messages is not None:
        require_writable(Path(options.messages))
    elif options.compute is not None:
        raise UsageError("--compute does not apply without --messages.")
    if not 0 <= (options.compute or 0) <= MOST_FACTOR:
        raise UsageError(f"--compute is a factor 0..10^6, not {options.compute}.")
    if options.arrivals is not None and options.messages is not None:
        raise UsageError("--arrivals does not apply with --messages: it changes their order.")
    eager_of(options.sends)
    _refuse_orders(options)
    if options.packet is not None and options.packet < 1:
        raise UsageError(f"--packet is 1 byte or more, not {options.packet}.")
    if not 0 <= options.spare < topology.hosts:
        raise UsageError(
            f"--spare is 0..{topology.hosts - 1} of the {topology.hosts} processors, not "
            f"{options.spare}."
        )
    failing = failures_of(topology, options.faults)
    source, arguments = _script(options)
    places = None
    if options.place != "identity":
        from mpinet.programs.messages.placing import places_of

        places = places_of(options.place, topology, topology.hosts, options.seed)
    named = joined(options.own)
    own = named.split(",") if named is not None else []
    if own:
        from mpinet.mpi.world.installed import require_own

        require_own(own)
    return Exec(options, topology, source, arguments, places, failing, own, _checks(options))


def _checks(options: ExecOptions) -> list[str] | None:
    """Return the names of the selected checks; None for a run without checks.

    Raises
    ------
    UsageError
        A name is unknown, or an option does not apply without checks.
    """
    from mpinet.mpi.checks.rules import CHECKS, checks_named

    if not options.check and options.checks is None:
        for name in ("no_check", "check_strict", "sarif", "repeat"):
            if getattr(options, name) not in (None, False):
                raise UsageError(f"--{name.replace('_', '-')} applies only with --check.")
        return None

    def named(text: str, word: str) -> list[str]:
        try:
            return checks_named(text)
        except ValueError as error:
            raise UsageError(f"{word}: {error}.") from None

    if options.repeat is not None and not 2 <= options.repeat <= MOST_ORDERS:
        raise UsageError(f"--repeat is 2..{MOST_ORDERS} runs, not {options.repeat}.")
    if options.repeat is not None and options.arrivals == "all":
        raise UsageError("--repeat does not apply with --arrivals all, which runs every order.")
    chosen = CHECKS if options.checks is None else named(options.checks, "--check")
    left_out = [] if options.no_check is None else named(options.no_check, "--no-check")
    if options.sarif is not None:
        require_writable(Path(options.sarif))
    return [name for name in chosen if name not in left_out]


@dataclass(eq=False, repr=False)
class Exec(MachineJob):
    """A script on every processor."""

    options: ExecOptions

    _source: Source
    _arguments: list[str]
    _places: Ints | None
    _failing: dict[int, int]
    _own: Sequence[str]
    _checks: Sequence[str] | None = None
    _log: dict[int, Any] | None = None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the script, and report the findings of its checks, also after a failure."""
        from mpinet.mpi.checks.findings import CheckedEnd

        try:
            row = self._repeated(transport, watch)
        except CheckedEnd as ended:
            from mpinet.mpi.checks.told import findings_text

            rows = self._findings(ended.findings)
            self.told = {"findings": rows}
            self._write_sarif(rows, transport)
            if rows:
                ended.args = (f"{ended}\n{findings_text(rows)}",)
            raise
        self._write_sarif(row.get("findings", []), transport)
        return row

    def _repeated(self, transport: Local, watch: Watch) -> Row:
        """Run the script, and repeat the run if an option asks for this."""
        if self.options.repeat is None:
            return self._played(transport, watch)
        from mpinet.jobs.repetition import repeated

        self._log = {}
        row = self._played(transport, watch)
        return row | {"repeated": repeated(self.options, self._log, transport)}

    def run_logged(self, transport: Local, log: dict[int, Any], out: TextIO) -> None:
        """Run the script once, and collect the calls of its processors (collective)."""
        from mpinet.mpi.world.orders import SeededOrder

        self._log = log
        self._run(transport, lambda *done: None, SeededOrder(self.options.seed), out)

    def _findings(self, findings: Sequence[Finding]) -> list[Row]:
        """Return findings as rows of a document."""
        from mpinet.mpi.checks.told import finding_row

        return [finding_row(one, self.options.check_strict) for one in findings]

    def _write_sarif(self, rows: list[Row], transport: Local) -> None:
        """Write findings to the SARIF file, if an option names one."""
        if self.options.sarif is not None and transport.rank == 0:
            from mpinet.mpi.checks.told import sarif

            write_text(Path(self.options.sarif), sarif(rows))

    def _played(self, transport: Local, watch: Watch) -> Row:
        """Run the script once, or in several orders of its messages."""
        from mpinet.mpi.tried import try_all
        from mpinet.mpi.world.orders import PrefixReplay, SeededOrder, order_of
        from mpinet.programs.messages.writing import write_goal

        options = self.options
        if options.arrivals == "all":
            most = MOST_ORDERS if options.most_orders is None else options.most_orders

            def in_order(orders: PrefixReplay, told: dict[int, str], first: bool) -> ScriptOutcome:
                if first:
                    return self._run(transport, watch, orders, self._out, told)
                # Each further order would print the script's output again.
                with redirect_stderr(io.StringIO()):
                    return self._run(transport, watch, orders, io.StringIO(), told)

            found, tried = try_all(transport, in_order, most)
            return self._row(found) | {"orders": tried._asdict()}
        orders: Orders | None = None
        if options.arrivals is not None:
            is_random = options.arrivals == "random"
            orders = (
                SeededOrder(options.seed) if is_random else PrefixReplay(order_of(options.arrivals))
            )
        found = self._run(transport, watch, orders, self._out)
        if found.traced is not None and options.messages is not None:
            with whole_file(Path(options.messages)) as file:
                write_goal(found.traced.program, file, found.traced.calls)
        return self._row(found)

    @property
    def _out(self) -> TextIO:
        """Stream for the script's output."""
        # With --json, standard output holds only the document, for programs.
        as_json = self.options.line.json
        return (sys.stderr if as_json else sys.stdout) or io.StringIO()

    def _run(
        self,
        transport: Local,
        watch: Watch,
        orders: Orders | None,
        out: TextIO,
        told: dict[int, str] | None = None,
    ) -> ScriptOutcome:
        """Run the script once (collective)."""
        from mpinet.mpi.script import ScriptOptions, run_script
        from mpinet.mpi.world.options import eager_of
        from mpinet.mpi.world.trees import TargetPattern

        options = self.options
        script = ScriptOptions(
            arguments=self._arguments,
            routing=options.routing,
            packet=options.packet,
            eager=eager_of(options.sends),
            measured=options.clock == "cpu",
            out=out,
            pattern=None if options.collectives is None else TargetPattern(options.collectives),
            compute=None if options.messages is None else float(options.compute or 0),
            arrivals=orders,
            told=told,
            places=None if self._places is None else self._places.tolist(),
            metered=options.loads,
            spare=options.spare,
            faults=self._failing,
            own=self._own,
            checks=self._checks,
            log=self._log,
        )
        return run_script(self.make_machine(transport, watch), self._source, script)

    def _row(self, found: ScriptOutcome) -> Row:
        """Return the outcome as the result of a document."""
        row = {
            "script": self._source.title,
            "processors": found.processors,
            "steps": found.steps,
            "messages": sum(account.messages for account in found.accounts),
            "hops": found.hops,
            "bytes": sum(account.sent for account in found.accounts),
            "unreceived": found.unreceived,
            "unreceived_at": [
                {"processor": node, "messages": count} for node, count in found.unreceived_at
            ],
            "output_sha256": found.output,
            "kinds": [{"call": account.kind, **_costs(account)} for account in found.kinds],
            "calls": [_call(account) | _costs(account) for account in found.accounts],
        }
        if found.conflicts:  # the documents of other runs stay as in older versions
            row["conflicts"] = [_conflict(conflict) for conflict in found.conflicts]
        if found.findings is not None:
            row["findings"] = self._findings(found.findings)
        row |= found.hot or {}
        if self.options.clock == "cpu":
            row["clock"] = "cpu"
        if self._failing:
            row["failed"] = [
                dict(zip(("processor", "step", "known"), failure, strict=True))
                for failure in found.failed
            ]
        if self.options.arrivals is not None:
            row["open_receives"] = [
                _call(account) | {"times": times, "most": most}
                for account, times, most in found.drawn
            ]
        return row

    def needs(self, ranks: int) -> int:
        """Return a lower bound on the bytes of the processors' scripts."""
        return PROCESSOR * self.share(ranks).hosted

    def rows(self, result: Row) -> list[Row]:
        """Return one row, with separate columns for each kind of call and each line."""
        kinds = by_name(result["kinds"], "call")
        calls = by_name(result["calls"], "file", "line", "call")
        lists = ("conflicts", "failed", "open_receives", *HOT)
        lengths = {name: len(result[name]) for name in lists if name in result}
        return [result | {"kinds": kinds, "calls": calls} | lengths]

    def shortfall(self, result: Row) -> str:
        """Return a sentence on an order with a different outcome, if one was found."""
        repeated = result.get("repeated", {"difference": ""})
        if repeated["difference"]:
            return (
                f"{repeated['difference']}\nRepeat this run with: --arrivals random --seed "
                f"{repeated['seed']}"
            )
        orders = result.get("orders", {"order": ""})
        if not orders["order"]:
            return ""
        return f"{orders['difference']}\nRepeat this order with: --arrivals {orders['order']}"

    def status(self, result: Row) -> int:
        """Return 3 if the checks have found an error, or an order of messages that fails."""
        from mpinet.mpi.checks.rules import ERROR, FINDINGS

        errors = [row for row in result.get("findings", ()) if row["severity"] == ERROR]
        ends = [result.get(name, {}).get("outcome") for name in ("orders", "repeated")]
        fails = "deadlock" in ends or "failure" in ends
        is_wrong = self._checks is not None and (errors or fails)
        return FINDINGS if is_wrong else super().status(result)

    def show(self, result: Row) -> str:
        """Format the counts, and the costs of each kind of call and each line."""
        names = ("processors", "steps", "messages", "hops", "bytes", "unreceived")
        counts = {name: result[name] for name in names}
        if "clock" in result:
            counts["clock"] = "measured CPU time: this run is not reproducible"
        if result["unreceived_at"]:
            first = result["unreceived_at"][0]
            counts["first of these"] = f"{first['messages']} at processor {first['processor']}"
        parts = [f"{result['script']} on {self.topology}\n{fields(counts)}"]
        if result["kinds"]:
            parts += [kinds_table(result["kinds"]), lines_table(result["calls"])]
        if self.options.loads:
            parts.append(hot_tables(result))
        if "conflicts" in result:
            parts.append(conflicts_text(result["conflicts"]))
        if "findings" in result:
            from mpinet.mpi.checks.told import findings_text

            parts.append(findings_text(result["findings"]))
        if result.get("open_receives"):
            parts.append(open_text(result["open_receives"]))
        if "repeated" in result:
            runs, ended = result["repeated"]["runs"], result["repeated"]["outcome"]
            parts.append(f"{runs} runs with other hash seeds and orders of messages: {ended}")
        if "orders" in result:
            parts.append(orders_text(result["orders"]))
        return "\n\n".join(parts)


def _script(options: ExecOptions) -> tuple[Source, list[str]]:
    """Return the script and its arguments.

    Raises
    ------
    UsageError
        No script, module or code is given.
    """
    from mpinet.mpi import source

    if isinstance(options.script, str | Path):  # Python passes the arguments separately
        return source.file(Path(options.script)), [*options.arg]
    named = (
        (options.script, lambda name: source.file(Path(name))),
        (options.line.module, source.module),
        (options.line.code, source.line),
    )
    for words, read in named:
        if words:
            return read(words[0]), [*words[1:]]
    raise UsageError("exec needs a script: give SCRIPT.py, -m MODULE or -c CODE.")


def _call(account: Account) -> Row:
    """Return the kind and the line of an account's calls."""
    return {"call": account.kind, "file": account.file, "line": account.line}


def _costs(account: Account) -> dict[str, int]:
    """Return the costs in an account."""
    costs = account.calls, account.messages, account.hops, account.sent, account.steps
    return dict(zip(COSTS, costs, strict=True))


def _conflict(conflict: Conflicting) -> Row:
    """Return a conflict as the object of a document."""
    return {
        "accesses": conflict.said,
        "processor": conflict.target,
        "bytes": [conflict.begin, conflict.end],
        "times": conflict.times,
        **_at("first", conflict.first),
        **_at("other", conflict.other),
    }


def _at(which: str, account: Account) -> Row:
    """Return the file and the line of one of two accesses."""
    return {f"{which}_file": account.file, f"{which}_line": account.line}


def _refuse_orders(options: ExecOptions) -> None:
    """Check the options on orders of messages.

    Raises
    ------
    UsageError
        The order is invalid, or an option does not apply with several orders.
    """
    from mpinet.mpi.world.orders import order_of

    if options.arrivals not in (None, "random", "all"):
        try:
            order_of(options.arrivals)
        except ValueError as error:
            raise UsageError(f"--arrivals is random, all, or an order: {error}.") from None
    every = options.arrivals == "all"
    if options.most_orders is not None and not every:
        raise UsageError("--most-orders applies only with --arrivals all.")
    if options.most_orders is not None and not 1 <= options.most_orders <= MOST_ORDERS**2:
        raise UsageError(f"--most-orders is 1..{MOST_ORDERS**2}, not {options.most_orders}.")
    line = options.line
    views = (options.record, line.draw, line.play, line.trace)
    if every and any(view is not None for view in views):
        raise UsageError("--arrivals all runs many orders: record one, with --arrivals ORDER.")
