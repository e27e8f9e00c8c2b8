"""Messages between two ranks: objects, memory, requests, probes."""
