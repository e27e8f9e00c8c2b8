"""The checker of certificates; it trusts the network's rules, and nothing else.

The checker rebuilds the formula or the inequalities with its own code. It then follows a proof or
adds up integers. It imports no solver and no part of the search for optima (`pyproject.toml`,
contract *checker*), and runs no code from a certificate.
"""

from mpinet.base.rooms import called

called(__name__)
