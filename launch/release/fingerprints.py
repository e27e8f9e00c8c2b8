"""Print the fingerprints of kernels and rules as this Python computes them, each with its key.

Usage: python fingerprints.py CHECKOUT FOLDER usual|everything REGEX

FOLDER has a library, and perhaps an index for this Python, which then makes networks with it.
"""

import os
import re
import sys
from pathlib import Path

checkout, folder, which, only = sys.argv[1:]
sys.path.insert(0, checkout)
os.environ["MPINET_COMPILE"] = "never"

from mpinet.base.native import library  # noqa: E402

library.FOLDER = Path(folder)

from mpinet.launching import compiling  # noqa: E402

for name in getattr(compiling, which)():
    if re.search(only, name):
        for key, code in compiling.codes(name).items():
            print(f"{key}\t{code.fingerprint}")
