"""All errors that mpinet raises on purpose: one class tree, with an exit status for each class.

The text of an error is a sentence for the user. The sentence states the given value and the allowed
values.
"""

from typing import Any


class MpinetError(Exception):
    """Base class of all errors of mpinet; the command line exits with `status`."""

    status = 1

    def _render_traceback_(self) -> list[str]:
        """Return the error's sentence, which IPython shows instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class UsageError(MpinetError, ValueError):
    """An invalid request: a wrong option, file or combination (exit status 2)."""

    status = 2


class TopologyError(UsageError):
    """An invalid topology string or family parameter."""


class FileError(UsageError):
    """A file error on this host: reading or writing failed, while other ranks' hosts may differ."""


class TopologyFileError(FileError, TopologyError):
    """A topology's file or module could not be read on this host."""


class TooLarge(UsageError):
    """A run larger than the available memory, or far too long; the text states both numbers."""


class OutputError(MpinetError):
    """A result could not be written, for example because of a full disk or a removed file."""


class Disconnected(UsageError):
    """A disconnected network, where the request needs a connected one."""


class NodeError(UsageError):
    """A processor number, port or address outside the topology."""


class WiringError(MpinetError):
    """A topology that breaks its contract; the text names the processor and the port."""

    status = 2


class RuleError(MpinetError):
    """A user's rule does not compile, or fails; the text names the file and the line."""

    status = 2


class RoutingError(MpinetError):
    """A routing rule chose an unwired port or does not end."""


class Stuck(RoutingError):
    """A routing offers no next hop for a message."""


class OutOfReach(MpinetError):
    """A question that the allowed effort does not decide; more effort may decide it."""


class ModelViolation(MpinetError):
    """A program exceeds the machine's port model; the text names step, processor, port and rule."""


class ConservationError(MpinetError):
    """Messages that are neither delivered, undeliverable nor in flight."""


class TransportError(MpinetError):
    """A missing MPI library, or a launcher of a different MPI library."""

    status = 2


class ProgramError(MpinetError):
    """A user's program that failed on a processor; the text names processor, step, file and line.

    Parameters
    ----------
    sentence : str
        The processor, the place in the program, and the cause.
    status : int
        Exit status of the command, if the program itself has set one.
    """

    def __init__(self, sentence: str, status: int = 1):
        super().__init__(sentence)
        self.status = status


class Deadlock(MpinetError):
    """Processors wait for messages, but no processor will send any more."""

    waiting: list[dict[str, Any]] = []  # noqa: RUF012  # replaced, never changed
    """Waiting processors of a script, grouped by call, line and functions on the stack."""


class Stalled(MpinetError):
    """A timed run makes no progress: a bug in mpinet, which ends the run."""


class CertificateError(MpinetError):
    """A certificate does not prove its claim."""


class Suspended(MpinetError):
    """A run ended on request, and has left a checkpoint for ``mpinet resume`` (EX_TEMPFAIL)."""

    status = 75


class Unread(MpinetError):
    """An output whose reader has closed the pipe, as with ``| head``; no message is printed."""

    status = 141
