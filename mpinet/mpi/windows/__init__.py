"""Windows: memory exposed for put, get and accumulate by other processors.

An access is an active message: it acts on arrival at its target, independent of the target's
script. It is routed and counted like any message. Accesses of an origin to the same target act in
program order.
"""
