#!/usr/bin/env python3
"""Table of several runs on one GPU, as the folders here and references.py have them.

summarize.py <run.csv>...     # each made by: sonde export run.h5 --format csv-long

A line for each number that any run gave: `<metric> n=<runs> median=<value> spread=<largest less smallest in percent of
it>`. Then the answers that are no number (texts, vectors, not resolvable, ...) with the runs that gave each; a vector is
named by the median of its elements."""
import collections
import csv
import statistics
import sys


def read_run(path):
    rows = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            rows[row["metric"]].append(row)
    return rows


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def answer(rows):
    """A number, or a text."""
    values = [number(row["value"]) for row in rows]
    if len(rows) == 1:
        shown = rows[0]["value"] if rows[0]["status"] == "ok" else rows[0]["status"]
        return shown if values[0] is None else values[0]
    known = [value for value in values if value is not None]
    return f"[{len(rows)} values, median {statistics.median(known):g}]" if known else "[texts]"


def main(*paths):
    runs = [read_run(path) for path in paths]
    metrics = list(dict.fromkeys(metric for run in runs for metric in run))
    texts = []
    for metric in metrics:
        answers = [answer(run[metric]) for run in runs if metric in run]
        numbers = [one for one in answers if isinstance(one, float)]
        others = collections.Counter(one for one in answers if not isinstance(one, float))
        if numbers:
            middle = statistics.median(numbers)
            spread = (max(numbers) - min(numbers)) / abs(middle) * 100 if middle else 0
            print(f"{metric} n={len(numbers)} median={middle:g} spread={spread:.2f}%")
        texts += [f"{metric}: {text} ({count} of {len(runs)})" for text, count in others.items()]
    print("\n" + "\n".join(texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
