"""Compiled code on disk: loaded if possible, compiled again if not, for whatever reason.

Of the processes that need the same code at the same time, as the ranks of a job do, one compiles
and the others load what it has made.

Imports Numba: `compiled` loads this module where the first function is compiled.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from hashlib import sha256
from types import FunctionType
from typing import Any

import numba
from numba.core.caching import (
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserWideCacheLocator,
)
from numba.core.typeinfer import register_dispatcher

from mpinet.base.callees import set_environments, uncollected
from mpinet.base.launched import launched_rank
from mpinet.base.locks import alone
from mpinet.base.ownership import as_safe_as, own_folder
from mpinet.base.roomy import roomy

Compiling = Callable[[], AbstractContextManager[object]]
"""Returns the context in which a function is compiled."""

SEAL = sha256().digest_size
"""Number of bytes that follow a file's own."""

FORM = f"1.{numba.__version__}"
"""Name of the files' form; it changes whenever code of before can no longer be loaded."""


def load_or_compile(
    function: FunctionType, signature: Any, compiling: Compiling = nullcontext, counts: bool = True
) -> Any:
    """Compile for one signature, or load what was compiled before.

    Parameters
    ----------
    function : function
        What Numba can compile, under a name that changes whenever what it compiles to does.
    signature : object
        In Numba's types.
    compiling : callable
        Returns the context in which it is compiled, where nothing could be loaded.
    counts : bool
        Whether it counts references to arrays, without which it cannot make any.
    """
    how: Any = {} if counts else {"_nrt": False}
    native: Any = numba.njit(function, **how)
    with ExitStack() as stack:

        def missed(lock: str) -> None:
            stack.enter_context(compiling())
            stack.enter_context(alone(lock))
            stack.enter_context(uncollected())

        try:
            native._cache = Cache(function, missed)
        except RuntimeError as error:
            if "cannot cache" not in str(error):  # no place for this file, as in a notebook's cell
                raise
            _tell_refused()
            stack.enter_context(compiling())
        # What numba.njit does itself for a given signature, but with the cache put in before.
        with register_dispatcher(native):
            roomy(lambda: native.compile(signature))()
        set_environments(native)
    native.disable_compile()
    return native


class SealedFile(IndexDataCacheFile):
    """Numba's files of one function, with a hash behind the code: no damaged bytes are ever run.

    What Numba reads ends before the hash, as it would without one.
    """

    def _save_data(self, name: str, data: Any) -> None:
        text = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(text + sha256(text).digest())

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            sealed = file.read()
        if sha256(sealed[:-SEAL]).digest() != sealed[-SEAL:]:
            raise ValueError(f"{name} is damaged")
        return super()._load_data(name)


_refused: dict[str, str] = {}
"""Folders that cannot hold compiled code, each with the reason."""


@cache
def _tell_refused() -> None:
    """Print, once and on one rank, why no folder holds compiled code; a notebook has no need."""
    if _refused and launched_rank() == 0:
        reasons = "; ".join(f"{folder}: {reason}" for folder, reason in _refused.items())
        sentence = f"mpinet: Compiled code is not kept, so each start compiles again ({reasons})."
        print(sentence, "Name a folder that you alone can write: NUMBA_CACHE_DIR.", file=sys.stderr)


def _careful(locator: Any) -> Any:
    """Restrict one of Numba's ways to find a folder to folders that only this user can change.

    Names of files say all about the code within, because functions' names do: the place of the
    source, its lines and its other functions make no difference.
    """

    class Careful(locator):  # type: ignore[misc]
        def get_disambiguator(self) -> str:
            return FORM

        @classmethod
        def get_suitable_cache_subpath(cls, py_file: str) -> str:
            return "mpinet"

        def get_cache_path(self) -> str:
            return self._own_path or str(super().get_cache_path())

        _own_path = ""

        def ensure_cache_path(self) -> None:
            folder, sources = self.get_cache_path(), os.path.dirname(os.path.abspath(self._py_file))
            try:
                if os.path.dirname(os.path.abspath(folder)) != sources:
                    self._own_path = own_folder(folder)
                super().ensure_cache_path()
                if not self._own_path and not as_safe_as(folder, sources):
                    raise PermissionError(errno.EACCES, "others can write it", folder)
            except OSError as error:
                _refused[error.filename or folder] = error.strerror or str(error)
                raise

    return Careful


NUMBAS: Any = FunctionCache._impl_class


def _shared_first(locators: list[Any]) -> list[Any]:
    """Put the user's own folder before that beside the sources, of which every copy has one."""
    others = [each for each in locators if each is not UserWideCacheLocator]
    others.insert(others.index(InTreeCacheLocator), UserWideCacheLocator)
    return others


class Places(NUMBAS):  # type: ignore[misc]
    """Folders for the code of a function: its files are loaded with pickle and run.

    `NUMBA_CACHE_DIR`, then the user's folder for what programs keep, which serves all copies of
    the package and of users' files, then ``__pycache__`` beside the sources.
    """

    _locator_classes = tuple(map(_careful, _shared_first(NUMBAS._locator_classes)))


class Cache(FunctionCache):
    """Numba's cache of one function, whose files may be damaged, foreign or not writable.

    Parameters
    ----------
    function : function
        The function.
    missed : callable
        Called where nothing can be loaded, with the name of a file to lock: thereafter it is looked
        for again, and then compiled.
    """

    _impl_class = Places

    def __init__(self, function: FunctionType, missed: Callable[[str], object] = lambda _: None):
        super().__init__(function)
        self._missed = missed
        self._cache_file = SealedFile(self._cache_path, self._impl.filename_base, FORM)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code compiled before; None if none can be used."""
        found = self._found(sig, target_context)
        if found is None:
            self._missed(os.path.join(self._cache_path, f"{self._impl.filename_base}.lock"))
            found = self._found(sig, target_context)  # another may have compiled it meanwhile
        return found

    def _found(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever is wrong with these files, they can be made anew
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for later, if possible: a full disk is no reason to fail."""
        try:
            super().save_overload(sig, data)
        except Exception:
            self._forget()

    def _forget(self) -> None:
        """Start with an empty index, or do without one."""
        try:
            self.flush()
        except OSError:
            self.disable()
