#!/usr/bin/env python3
"""Reference values of a GPU model for sonde to ship (analysis/fleet/references), from several runs on each of some GPUs.

references.py <name> <memory bytes> <page> <folder>... > ../../analysis/fleet/references/<name>.json

A folder holds the runs on one GPU, each made by `sonde export run.h5 --format json > <folder>/<run>.json`; the page of
this folder says what they are. Of each metric the smallest and the largest median of the GPUs are kept. Taken are the
metrics that devices are compared by (../metrics.md: continuous, with a better direction) and some sizes and counts, if
all GPUs have them and the runs on each GPU lie within 5 %. What depends on the host is left out, and what programs gain
by bypassing, which follows from the rest."""
import collections
import json
import statistics
import sys
from pathlib import Path

MOST_SPREAD = 0.05
LEFT_OUT = ("host.", "peer.", "clock.launch", "bypass.")
SIZES = {"device.sm_count", "device.memory_bus_bits", "cache.l1.size_bytes", "cache.l2.size_bytes"}


def read_gpu(folder):
    """The numbers of each metric, one of each run that has it."""
    numbers = collections.defaultdict(list)
    runs = sorted(Path(folder).glob("*.json"))
    for run in runs:
        (device,) = json.loads(run.read_text())["devices"]
        for metric, finding in device["findings"].items():
            if finding["status"] == "ok" and isinstance(finding["value"], (int, float)):
                numbers[metric].append(finding["value"])
    return len(runs), numbers


def is_steady(values):
    """Whether all runs on a GPU agree."""
    return bool(values) and min(values) > 0 and max(values) - min(values) <= MOST_SPREAD * statistics.median(values)


def compared_metrics(page):
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()
            if line.startswith("| ")]
    return SIZES | {row[0] for row in rows
                    if row[2] == "continuous" and row[3] and "not compared" not in row[4]
                    and not row[0].startswith(LEFT_OUT)}


def main(name, memory_bytes, page, *folders):
    compared = compared_metrics((Path(__file__).resolve().parents[1] / "metrics.md").read_text())
    gpus = [read_gpu(folder) for folder in folders]
    values = {}
    for metric in gpus[0][1]:
        of_gpus = [numbers[metric] for _, numbers in gpus]
        if metric in compared and all(map(is_steady, of_gpus)):
            medians = [float(f"{statistics.median(numbers):g}") for numbers in of_gpus]
            values[metric] = [min(medians), max(medians)]
    head = json.dumps({"name": name, "memory_bytes": int(memory_bytes), "gpus": len(gpus),
                       "runs": sum(runs for runs, _ in gpus), "sources": [f"docs/results/{page}"]}, indent=1)
    rows = ",\n".join(f'  "{metric}": {json.dumps(value)}' for metric, value in values.items())
    print(f'{head[:-2]},\n "values": {{\n{rows}\n }}\n}}')


if __name__ == "__main__":
    main(*sys.argv[1:])
