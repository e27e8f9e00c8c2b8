"""Exact optima: the fewest steps of a collective, a schedule that takes them, and a certificate.

A schedule shows that so many steps are enough: it is run on the machine. A certificate shows that
one step less is not: `mpinet.certify` checks it, and shares no code with what is here.
"""
