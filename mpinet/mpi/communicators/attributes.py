"""Attribute caching: values attached by scripts to communicators under keyvals."""

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
"""First user-defined keyval; MPI's keyvals are lower."""

NUMBER = "number of the command"
"""Storage key for the index of a spawned processor's command."""

KEYS = "attribute keys"
"""Storage key for a processor's user-defined keyvals, by number."""


class Key:
    """Callback functions of a keyval, called when its values are copied or deleted.

    Parameters
    ----------
    copy : callable, True or None
        Called with the duplicated communicator, the keyval and the value; returns the duplicate's
        value, or `NotImplemented` for none. True copies the value, None copies nothing.
    delete : callable or None
        Called with the communicator, the keyval and the deleted value.
    """

    __slots__ = ("copy", "delete")

    def __init__(self, copy: Any, delete: Any):
        self.copy = copy or None
        self.delete = delete if callable(delete) else None


def _keys() -> dict[int, Key]:
    """Return the running processor's user-defined keyvals, by number."""
    keys: dict[int, Key] = running.turns.current.storage().setdefault(KEYS, {})
    return keys


class Attributes(Endpoint):
    """Attribute calls of communicators, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    @classmethod
    def Create_keyval(
        cls,
        copy_fn: Callable[[Any, int, Any], Any] | bool | None = None,
        delete_fn: Callable[[Any, int, Any], None] | bool | None = None,
        nopython: bool = False,
    ) -> int:
        """Create a user-defined keyval.

        Parameters
        ----------
        copy_fn : callable or bool, optional
            Returns a duplicate's value, given the communicator, the keyval and the value. True
            copies the value (default: no copy).
        delete_fn : callable, optional
            Called with the communicator, the keyval and a deleted value.
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
        """Free a keyval; its values stay."""
        if _keys().pop(keyval, None) is None:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        return int(REAL.KEYVAL_INVALID)

    def Get_attr(self, keyval: int) -> Any:
        """Return the value of a keyval; None if not set."""
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
        """Return MPI's predefined attributes by keyval; job attributes belong to the world."""
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
        """Attach a value, and delete a previous value of the keyval."""
        key = _keys().get(keyval)
        if key is None:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        holding = self._state
        if holding.attributes is None:
            holding.attributes = {}
        if keyval in holding.attributes:
            # Deleted instead of overwritten, because MPI calls the delete function of a replaced
            # value.
            self.Delete_attr(keyval)
        holding.attributes[keyval] = key, attrval

    def Delete_attr(self, keyval: int) -> None:
        """Delete the value of a keyval."""
        attributes = self._state.attributes or {}
        if keyval not in attributes:
            raise REAL.Exception(REAL.ERR_KEYVAL)
        key, value = attributes.pop(keyval)
        if key.delete is not None:
            self._ask(key.delete, keyval, value)

    def _delete_all(self) -> None:
        """Delete the values of all keyvals, in reverse order of attachment."""
        # Later values may depend on earlier ones, therefore the last is deleted first. MPI requires
        # this order for `COMM_SELF` at the end.
        for keyval in reversed(list(self._state.attributes or {})):
            self.Delete_attr(keyval)

    def _copy_to(self, holding: CommState) -> None:
        """Copy attribute values to a duplicated communicator."""
        for keyval, (key, value) in list((self._state.attributes or {}).items()):
            copied = self._copied(key, keyval, value)
            if copied is not NotImplemented:
                holding.attributes = holding.attributes or {}
                holding.attributes[keyval] = key, copied

    def _copied(self, key: Key, keyval: int, value: Any) -> Any:
        """Return the attribute value of a duplicate; `NotImplemented` for none."""
        if key.copy is None:
            return NotImplemented
        return value if key.copy is True else self._ask(key.copy, keyval, value)

    def _ask(self, function: Callable[[Any, int, Any], Any], keyval: int, value: Any) -> Any:
        """Call a keyval's copy or delete function and return its result.

        Raises
        ------
        Exception
            The function fails; its own error is printed, as in mpi4py.
        """
        try:
            return function(self, keyval, value)
        except Exception:
            traceback.print_exc()
            raise REAL.Exception(REAL.ERR_OTHER) from None
