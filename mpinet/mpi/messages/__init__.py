"""Point-to-point messages: objects, buffers, requests, probes."""
