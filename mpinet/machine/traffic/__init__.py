"""Open-loop traffic on a machine with finite buffers (docs/reference/traffic.md)."""
