"""The lowest layer: modules that all rooms import, without knowledge of networks or machines.

User files import `mpinet.errors` and `mpinet.compiled` by name, and therefore these two names must
not change.
"""
