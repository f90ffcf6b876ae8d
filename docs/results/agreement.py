"""How often the runs on each GPU say the same of its structure, from structure.csv in this folder or another table.

structure.csv has one row for each run and metric of structure and sharing, as sonde exported them (h200.md and h100.md
name the runs). Prints the metrics whose sure values (confidence 0.95 and more) differ, the metrics that are sure in a
part of the runs only, and how many are the same and sure in all.
"""

import collections
import csv
import pathlib
import sys

SURE = 0.95


def count_answers(path):
    """By GPU and metric: how many runs gave each answer; None for those that are not sure."""
    answers = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            is_sure = float(row["confidence"] or 0) >= SURE
            answers[row["gpu"]][row["metric"]][(row["value"], row["status"]) if is_sure else None] += 1
    return answers


def main():
    beside = pathlib.Path(__file__).with_name("structure.csv")
    for gpu, metrics in count_answers(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else beside).items():
        totals = collections.Counter()
        for metric, answers in sorted(metrics.items()):
            sure = {answer for answer in answers if answer is not None}
            if not sure:
                totals["never sure"] += 1
            elif len(sure) > 1:
                totals["sure and different"] += 1
                print(gpu, "different:", metric, dict(answers))
            elif len(answers) > 1:
                totals["sure in a part of the runs, with one value"] += 1
                print(gpu, "in part:", metric, dict(answers))
            else:
                totals["the same and sure in all"] += 1
        for what, count in totals.most_common():
            print(gpu, count, what)


if __name__ == "__main__":
    main()
