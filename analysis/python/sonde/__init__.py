"""Run files of sonde (docs/file-format.md) as pandas tables.

    import sonde
    probes = sonde.evidence("run.h5", "tlb.l1.reach_bytes")       # what a finding rests on
    accesses = sonde.traces("run.h5", "tlb", probes.index)        # each access: address, SM, cycles

Every function takes the path of a run file, or what `open_run` gave. Units are in the names of columns,
or, where the column of the file has none in its name, in `frame.attrs["units"]`.
"""
from .frames import devices, evidence, findings, flags, histograms, points, probes, provenance, traces
from .tables import SCHEMA_VERSION, open_run

__all__ = ["SCHEMA_VERSION", "devices", "evidence", "findings", "flags", "histograms", "open_run",
           "points", "probes", "provenance", "traces"]
