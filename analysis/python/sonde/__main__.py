"""Prints what is in a run file.

    python -m sonde run.h5                              devices and verdicts
    python -m sonde run.h5 'cache.l1.*'                 findings, device by device
    python -m sonde run.h5 tlb.l1.reach_bytes --evidence   the probes behind a finding
    python -m sonde run.h5 tlb --probe 3                one probe, access by access
"""
import argparse
import sys

import pandas as pd

from . import devices, evidence, findings, open_run, traces


def table_of(file, arguments):
    if arguments.what is None:
        frame = devices(file)
        return frame[[name for name in ("uuid", "name", "node", "rank", "status", "verdict")
                      if name in frame]]
    if arguments.probe is not None:
        return traces(file, arguments.what, arguments.probe)
    if arguments.evidence:
        return evidence(file, arguments.what)[["uuid", "label", "accesses", "median_cycles"]]
    return findings(file, arguments.what)[["uuid", "metric", "value", "unit", "status", "confidence"]]


def main(argv=None):
    parser = argparse.ArgumentParser(prog="sonde-read", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("what", nargs="?", help="a metric, a pattern of metrics, or a job (--probe)")
    parser.add_argument("--probe", type=int, metavar="ROW")
    parser.add_argument("--evidence", action="store_true")
    arguments = parser.parse_args(argv)
    try:
        with open_run(arguments.run) as file:
            frame = table_of(file, arguments)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"sonde-read: {error.args[0] if error.args else error}")
    with pd.option_context("display.max_colwidth", 60):
        print(frame.to_string() if len(frame) else "nothing found")


if __name__ == "__main__":
    main()
