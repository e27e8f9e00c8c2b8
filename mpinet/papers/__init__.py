"""The statements of papers on networks: a room a paper, each statement a claim that is measured.

The networks themselves are in `mpinet.networks`; how claims are judged is in `mpinet.claims`.
"""
