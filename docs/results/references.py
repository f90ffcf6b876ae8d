#!/usr/bin/env python3
"""Reference values of a GPU model for sonde to ship (analysis/fleet/references), from the tables of several runs in
this folder.

references.py <name> <memory bytes> <table>... > ../../analysis/fleet/references/<name>.json

A table holds the runs on one GPU: `<metric> n=<runs> median=<value> spread=<largest less smallest in percent of it>` on
each line. Of each metric the smallest and the largest median of the GPUs are kept. Taken are those that devices are
compared by (../metrics.md: continuous, with a better direction) and some sizes and counts, if every table has them and
their spread on each GPU is 5 % at most. What depends on the host is
left out, and what programs gain by bypassing, which follows from the rest."""
import json
import re
import sys
from pathlib import Path

MOST_SPREAD_PERCENT = 5
LEFT_OUT = ("host.", "peer.", "clock.launch", "bypass.")
SIZES = {"device.sm_count", "device.memory_bus_bits", "cache.l1.size_bytes", "cache.l2.size_bytes"}
LINE = re.compile(r"(\S+) n=(\d+) median=(\S+) spread=(\S+)%$")


def read_table(path):
    rows = [LINE.match(line) for line in path.read_text().splitlines()]
    return {row[1]: (int(row[2]), float(row[3]), float(row[4])) for row in rows if row}


def compared_metrics(page):
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()
            if line.startswith("| ")]
    return SIZES | {row[0] for row in rows
                    if row[2] == "continuous" and row[3] and "not compared" not in row[4]
                    and not row[0].startswith(LEFT_OUT)}


def main(name, memory_bytes, *paths):
    here = Path(__file__).resolve().parent
    tables = [read_table(Path(path)) for path in paths]
    compared = compared_metrics((here.parent / "metrics.md").read_text())
    values = {}
    for metric in tables[0]:
        if metric not in compared or not all(metric in table for table in tables):
            continue
        of_gpus = [table[metric] for table in tables]
        if all(spread <= MOST_SPREAD_PERCENT and median > 0 for _, median, spread in of_gpus):
            medians = [median for _, median, _ in of_gpus]
            values[metric] = [min(medians), max(medians)]
    runs = sum(max(n for n, _, _ in table.values()) for table in tables)
    sources = ["docs/results/" + str(Path(path).resolve().relative_to(here)) for path in paths]
    head = json.dumps({"name": name, "memory_bytes": int(memory_bytes), "gpus": len(tables),
                       "runs": runs, "sources": sources}, indent=1)
    rows = ",\n".join(f'  "{metric}": {json.dumps(value)}' for metric, value in values.items())
    print(f'{head[:-2]},\n "values": {{\n{rows}\n }}\n}}')


if __name__ == "__main__":
    main(*sys.argv[1:])
