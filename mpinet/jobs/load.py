"""``mpinet load``: latency and throughput under open-loop traffic."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mpinet.commands.job import Job
from mpinet.commands.load import LoadOptions, load
from mpinet.errors import UsageError
from mpinet.jobs.loadjob import LoadJob
from mpinet.jobs.loadplan import fitting, plan_file, plan_text, require_known, variants_of
from mpinet.jobs.loadruns import journal_of, read_seeds, settings_of
from mpinet.jobs.opening import networks_in, topology_named
from mpinet.jobs.plots import require_plot
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.experiments.load import TrafficSetting

SEVERAL = re.compile(r",(?=[^0-9])")
"""Separator of patterns: a comma outside patterns such as ``hotspot:0,10``."""


def prepare(options: LoadOptions) -> Job:
    """Prepare a curve for each network, pattern and seed; check the combination of options."""
    folder = journal_of(options.line.out)
    networks = networks_in(options.topology)
    if not networks:
        raise UsageError("load needs a network.")
    assert isinstance(options.pattern, str)  # `as_pattern` has joined lists
    patterns, seeds = list(dict.fromkeys(SEVERAL.split(options.pattern))), read_seeds(options)
    topologies = [topology_named(network) for network in networks]
    variants = variants_of(options)
    lacking = require_known(topologies, variants)
    chosen = [(topology, fitting(topology, variants)) for topology in topologies]
    settings: list[TrafficSetting] = []
    curves: list[Row] = []
    for pattern in patterns:
        for topology, fit in chosen:
            for variant in fit:
                made = settings_of(options, variant, topology, pattern, seeds)
                settings += made
                curves += [variant] * len(made)
    job = LoadJob(options, settings, curves, patterns, lacking, folder)
    if options.plot is not None:
        path = Path(options.plot)
        require_plot(path)
        plan_file(path)
        by_name = [(topology.name, fit) for topology, fit in chosen]
        job.plan = plan_text(load, options, by_name, patterns, job.drawn(path, len(by_name)))
    return job
