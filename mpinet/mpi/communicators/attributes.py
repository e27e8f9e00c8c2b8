"""Attribute caching: values that scripts attach to communicators under keyvals."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from mpinet.mpi.real import ANY_SOURCE, REAL
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import TAG_LIMIT
from mpinet.mpi.world.endpoint import CommState, Endpoint

FIRST_OWN = 1000
"""The first key of a script's own; MPI's are lower."""

NUMBER = "number of the command"
"""Under this a processor that was spawned keeps which of several commands it runs."""

KEYS = "attribute keys"
"""Under this a processor keeps its own keys, by number."""


class Key:
    """Functions of a key, which are called when values with it are copied or deleted.

    Parameters
    ----------
    copy : callable, True or None
        Called with the communicator that is duplicated, the key's number and the value; gives the
        duplicate's value, or `NotImplemented` for none. True: the same value; None: none.
    delete : callable or None
        Called with the communicator, the key's number and the value that is taken away.
    """

    __slots__ = ("copy", "delete")

    def __init__(self, copy: Any, delete: Any):
        self.copy = copy or None
        self.delete = delete if callable(delete) else None


def _keys() -> dict[int, Key]:
    """The running processor's own keys, by number."""
    keys: dict[int, Key] = running.turns.current.storage().setdefault(KEYS, {})
    return keys


class Attributes(Endpoint):
    """Values by keys, as `mpi4py.MPI.Comm` has them."""

    __slots__ = ()

    @classmethod
    def Create_keyval(
        cls,
        copy_fn: Callable[[Any, int, Any], Any] | bool | None = None,
        delete_fn: Callable[[Any, int, Any], None] | bool | None = None,
        nopython: bool = False,
    ) -> int:
        """A key of the script's own.

        Parameters
        ----------
        copy_fn : callable or bool, optional
            Gives a duplicate's value from the communicator, the key and the value; True: the same
            value (default: none).
        delete_fn : callable, optional
            Called with the communicator, the key and a value that is taken away.
        nopython : bool
            Whether values are integers.
        """
        kept = running.turns.current.storage()
        number: int = kept.get((KEYS, "made"), FIRST_OWN)
        kept[KEYS, "made"] = number + 1
        _keys()[number] = Key(copy_fn, delete_fn)
        return number

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        """Give up a key; values with it stay."""
        if _keys().pop(keyval, None) is None:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        return int(REAL.KEYVAL_INVALID)

    def Get_attr(self, keyval: int) -> Any:
        """The value with a key; None if there is none."""
        found = (self._state.attributes or {}).get(keyval)
        if found is not None:
            return found[1]
        if keyval in _keys():
            return None
        known = self._known()
        if keyval not in known:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        return known[keyval]

    def _known(self) -> dict[int, Any]:
        """MPI's own values by key; those of the job are the world's."""
        contexts, here = running.world.contexts, running.turns.current
        world = self._context == contexts.world_of(here.id)
        return {
            REAL.TAG_UB: TAG_LIMIT,
            REAL.IO: ANY_SOURCE,
            REAL.WTIME_IS_GLOBAL: True,
            REAL.APPNUM: here.storage().get(NUMBER, 0) if world else None,
            REAL.UNIVERSE_SIZE: running.world.size if world else None,
            REAL.LASTUSEDCODE: REAL.COMM_WORLD.Get_attr(REAL.LASTUSEDCODE),
        }

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        """Attach a value; one that has been there with the key is taken away."""
        key = _keys().get(keyval)
        if key is None:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        holding = self._state
        if holding.attributes is None:
            holding.attributes = {}
        if keyval in holding.attributes:
            # Replaced and not overwritten: MPI calls the delete function for a value that makes
            # room for another.
            self.Delete_attr(keyval)
        holding.attributes[keyval] = key, attrval

    def Delete_attr(self, keyval: int) -> None:
        """Take a value away."""
        attributes = self._state.attributes or {}
        if keyval not in attributes:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        key, value = attributes.pop(keyval)
        if key.delete is not None:
            self._ask(key.delete, keyval, value)

    def _delete_all(self) -> None:
        """Take all values away, the last attached first."""
        # Later values may depend on earlier ones, so the last goes first. MPI demands this order of
        # `COMM_SELF` at its end.
        for keyval in reversed(list(self._state.attributes or {})):
            self.Delete_attr(keyval)

    def _copy_to(self, holding: CommState) -> None:
        """Give a duplicate the values that it is to have."""
        for keyval, (key, value) in list((self._state.attributes or {}).items()):
            copied = self._copied(key, keyval, value)
            if copied is not NotImplemented:
                holding.attributes = holding.attributes or {}
                holding.attributes[keyval] = key, copied

    def _copied(self, key: Key, keyval: int, value: Any) -> Any:
        """A duplicate's value; `NotImplemented` for none."""
        if key.copy is None:
            return NotImplemented
        return value if key.copy is True else self._ask(key.copy, keyval, value)

    def _ask(self, function: Callable[[Any, int, Any], Any], keyval: int, value: Any) -> Any:
        """Return what a key's function gives.

        Raises
        ------
        Exception
            It fails; its own error is printed, as mpi4py does.
        """
        try:
            return function(self, keyval, value)
        except Exception:
            traceback.print_exc()
            raise REAL.Exception(REAL.ERR_OTHER) from None
