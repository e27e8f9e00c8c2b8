"""Starts the guardian as a program: ``python -I -S mpinet/base/guardian/__main__.py ..``."""

import os
import sys
from importlib import import_module

if __name__ == "__main__":
    # With this path the package is found without mpinet, which the Python of another host may lack.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import_module("guardian.watch").main(sys.argv[1:])
