"""Print the fingerprints of all kernels and rules as this Python computes them, each with its key.

Usage: python fingerprints.py CHECKOUT REGEX
"""

import os
import re
import sys

checkout, only = sys.argv[1:]
sys.path.insert(0, checkout)
os.environ["MPINET_COMPILE"] = "never"

from mpinet.launching import compiling  # noqa: E402

for name in compiling.everything():
    if re.search(only, name):
        for key, code in compiling.codes(name).items():
            print(f"{key}\t{code.fingerprint}")
