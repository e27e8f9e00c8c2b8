"""Algorithms as every processor runs them: programs for ``mpinet run`` and `mpinet.Machine.run`."""
