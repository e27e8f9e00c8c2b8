"""The checker of certificates: what it takes on trust is the network's rules, and nothing else.

It makes the formula or the inequalities again by code of its own and then follows a proof, or adds
up integers. It imports no solver and nothing of the search for optima (`pyproject.toml`, contract
*checker*), and runs no code from a certificate.
"""

from mpinet.base.rooms import called

called(__name__)
