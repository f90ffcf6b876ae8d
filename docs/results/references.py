#!/usr/bin/env python3
"""Reference values of a GPU model for sonde to ship (analysis/fleet/references), from several runs on each of some GPUs.

references.py <name> <memory bytes> <page> <folder>... > ../../analysis/fleet/references/<name>.json
references.py jobs <name>.json run.h5...    adds what each job takes of a standard run, by the medians of some

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

import h5py
import numpy as np

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


def add_job_costs(path, costs):
    """Seconds of each job and its share of the bytes of a run file, by the rows that it has of each table."""
    with h5py.File(path) as file:
        def column(name):
            return file[name][:].astype(np.int64)

        def stored(group):
            return sum(dataset.id.get_storage_size() for dataset in file[group].values())

        ends = column("names/text_offset") + column("names/text_length")
        text = file["names/text_bytes"][:].tobytes()
        lane_first, lane_count = column("probes/lane_offset"), column("probes/lane_length")
        windows = column("traces/window_length")
        of_finding = stored("findings") / len(file["findings/metric"])
        of_probe = stored("probes") / len(file["probes/kind"])
        of_window = stored("traces") / max(1, windows.sum())
        outcomes = zip(column("outcomes/job"), file["outcomes/elapsed_s"][:], column("outcomes/finding_length"),
                       column("outcomes/probe_offset"), column("outcomes/probe_length"))
        for job, seconds, findings, first, count in outcomes:
            lane = lane_first[first] if count else 0
            lanes = lane_count[first:first + count].sum()
            size = findings * of_finding + count * of_probe + windows[lane:lane + lanes].sum() * of_window
            start = ends[job - 1] if job else 0
            costs[text[start:ends[job]].decode()].append((seconds, size))


def add_jobs(path, *runs):
    costs = collections.defaultdict(list)
    for run in runs:
        add_job_costs(run, costs)
    rows = ",\n".join(f'  "{job}": [{", ".join(f"{statistics.median(x):.4g}" for x in zip(*all_of_it))}]'
                      for job, all_of_it in costs.items())
    head, _, _ = Path(path).read_text().rstrip().partition(',\n "jobs"')
    Path(path).write_text(f'{head.removesuffix(chr(10) + "}")},\n "jobs": {{\n{rows}\n }}\n}}\n')


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
    (add_jobs if sys.argv[1] == "jobs" else main)(*sys.argv[1 + (sys.argv[1] == "jobs"):])
