"""Exceptions that indicate a damaged file, for all readers of archives, arrays and JSON."""

import struct
import zipfile
import zlib
from tokenize import TokenError

DAMAGED = (
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TokenError,
    OverflowError,
    RecursionError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Errors that Python's and NumPy's readers raise for damaged files, in addition to `OSError`.

NumPy parses the header of an array as Python code.
"""
