"""The timed machine: programs of messages with sizes, played in time (docs/reference/time.md)."""
