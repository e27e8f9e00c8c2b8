"""Every error that mpinet raises on purpose: one tree, and the exit status that each stands for.

An error's text is a sentence for the person who reads it: what was given, what is allowed.
"""


class MpinetError(Exception):
    """Base of all errors of mpinet; the command line ends with `status`."""

    status = 1

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback: the sentence."""
        return [f"{type(self).__name__}: {self}"]


class UsageError(MpinetError, ValueError):
    """A request that cannot be met: a wrong option, file or combination (exit status 2)."""

    status = 2


class TopologyError(UsageError):
    """A topology string or a family's parameter that is not allowed."""


class FileError(UsageError):
    """A file that cannot be read or written on this host; another rank's host may differ."""


class TopologyFileError(FileError, TopologyError):
    """A topology's file or module that cannot be read on this host."""


class TooLarge(UsageError):
    """A run that does not fit into memory or would take far too long; tells both numbers."""


class OutputError(MpinetError):
    """A result that could not be written: a full disk, a limit, a file that went away."""


class Disconnected(UsageError):
    """A network in pieces, where what was asked for needs a connected one."""


class NodeError(UsageError):
    """A processor number, port or address that the topology does not have."""


class WiringError(MpinetError):
    """A topology that breaks its contract: names the processor and the port."""

    status = 2


class RuleError(MpinetError):
    """A faulty rule, which cannot be compiled or fails: names the file and the line."""

    status = 2


class RoutingError(MpinetError):
    """A routing rule that chose an unwired port or does not come to an end."""


class Stuck(RoutingError):
    """A routing that cannot lead a message on."""


class OutOfReach(MpinetError):
    """A question that the allowed effort does not decide; more effort may."""


class ModelViolation(MpinetError):
    """A program that breaks the machine's port model: names step, processor, port and rule."""


class ConservationError(MpinetError):
    """Messages that are neither delivered, undeliverable nor in flight."""


class TransportError(MpinetError):
    """No MPI library where one is needed, or a launcher that does not belong to it."""

    status = 2


class ProgramError(MpinetError):
    """A user's program that failed on a processor: names processor, step, file and line.

    Parameters
    ----------
    sentence : str
        Who, where and why.
    status : int
        What the command is to end with, where the program itself has said so.
    """

    def __init__(self, sentence: str, status: int = 1):
        super().__init__(sentence)
        self.status = status


class Deadlock(MpinetError):
    """Processors that wait for messages although none will be sent any more."""


class Stalled(MpinetError):
    """A timed run that makes no progress: an error of mpinet, which ends it."""


class CertificateError(MpinetError):
    """A certificate that does not prove what it claims."""


class Suspended(MpinetError):
    """A run that was asked to end and has left a checkpoint to resume from (EX_TEMPFAIL)."""

    status = 75


class Unread(MpinetError):
    """An output that nobody reads any more, as behind ``| head``: no message is due."""

    status = 141
