"""Exact optima: the fewest steps of a collective, with a schedule and a certificate.

A schedule, run on the machine, proves the upper bound. A certificate proves that one step less is
not enough. `mpinet.certify` checks the certificate, and shares no code with this package.
"""
