"""Programs that run on every processor, for ``mpinet run`` and `mpinet.Machine.run`."""
