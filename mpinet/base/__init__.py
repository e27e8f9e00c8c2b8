"""The ground floor: what every room stands on, and what knows of no network and no machine.

Users' files import `mpinet.errors` and `mpinet.compiled` by name; so these stay where they are.
"""
