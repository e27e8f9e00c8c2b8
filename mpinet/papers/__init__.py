"""Statements of papers on networks: one package per paper, each statement a measured claim.

The networks are in `mpinet.networks`; claims are judged in `mpinet.claims`.
"""
