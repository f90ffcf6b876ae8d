"""Run files of sonde (docs/file-format.md) as pandas tables, and sweeps as an xarray Dataset.

    import sonde
    data = sonde.sweep("sweep.h5")                                # settings as coordinates, metrics as variables
    found = sonde.findings("run.h5", "tlb.*")                     # values, one row per metric and GPU
    accesses = sonde.trace_of("run.h5", found.iloc[0])            # what a finding rests on, access by access

Every function takes the path of a run file, or what `open_run` gave. Units are in the names of columns,
or, where the column of the file has none in its name, in `frame.attrs["units"]`.
"""
from .frames import devices, evidence, findings, flags, histograms, points, probes, provenance, trace_of, traces
from .sweeps import sweep
from .tables import SCHEMA_VERSION, open_run

__all__ = ["SCHEMA_VERSION", "devices", "evidence", "findings", "flags", "histograms", "open_run",
           "points", "probes", "provenance", "sweep", "trace_of", "traces"]
