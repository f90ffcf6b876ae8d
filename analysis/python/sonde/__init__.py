"""Reads run files of sonde (docs/file-format.md) as pandas tables, and sweeps as an xarray Dataset.

    import sonde
    data = sonde.sweep("sweep.h5")                                # settings as coordinates, metrics as variables
    found = sonde.findings("run.h5", "tlb.*")                     # values, one row per metric and GPU
    accesses = sonde.trace_of("run.h5", found.iloc[0])            # the accesses behind a finding

Every function takes the path of a run file, or the result of `open_run`. The name of a column ends
with its unit, or the unit is in `frame.attrs["units"]`.
"""
from .frames import devices, evidence, findings, flags, histograms, points, probes, provenance, trace_of, traces
from .sweeps import sweep
from .tables import SCHEMA_VERSION, open_run

__all__ = ["SCHEMA_VERSION", "devices", "evidence", "findings", "flags", "histograms", "open_run",
           "points", "probes", "provenance", "sweep", "trace_of", "traces"]
