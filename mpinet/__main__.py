"""``python -m mpinet``: the same as the ``mpinet`` command."""

from mpinet.cli import main

if __name__ == "__main__":
    main()
