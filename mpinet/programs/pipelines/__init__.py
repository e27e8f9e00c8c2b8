"""Collectives of many items: schedules that keep links busy, and rates that nothing beats.

`mpinet.programs.pipelines.collectives` is what commands call. How fast items can flow is found by
maximum flows (`rates`), by what they are brought: arc-disjoint trees (`trees`), the rarest item
first, matchings or a cycle (`spreading`).
"""
