"""Collectives of many items: schedules that keep links busy, and upper bounds of rates.

Commands call `mpinet.programs.pipelines.collectives`. Maximum flows (`rates`) give the possible
rate of items. Items travel along arc-disjoint trees (`trees`), or by rarest item first, matchings
or a cycle (`spreading`).
"""
