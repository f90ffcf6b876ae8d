"""How often several runs on one GPU say the same of its structure: agreement.py FOLDER

FOLDER holds what `sonde export --format csv-long` wrote of each run. Prints the metrics whose sure values (confidence 0.95
and more) differ, those that are sure in a part of the runs only, and how many are the same and sure in all.
"""

import collections
import csv
import pathlib
import re
import sys

STRUCTURE = re.compile(
    r"(cache|tlb)\..*\.(size_bytes|line_bytes|sector_bytes|fetch_bytes|sets|ways|replacement|index_function"
    r"|tag_reach_bytes|entries|entry_bytes|reach_bytes|sub_entries|slices|slice_sets|slice_ways|slice_replacement"
    r"|slice_function|scope|write_policy)|tlb\.page_bytes|sharing\..*\.(scope|sms)"
)
SURE = 0.95


def count_answers(folder):
    """Of each metric how many runs gave each answer; None for those that are not sure."""
    answers = collections.defaultdict(collections.Counter)
    for path in sorted(pathlib.Path(folder).glob("*.csv")):
        with path.open(newline="") as table:
            for row in csv.DictReader(table):
                if STRUCTURE.fullmatch(row["metric"]):
                    is_sure = float(row["confidence"] or 0) >= SURE
                    answers[row["metric"]][(row["value"], row["status"]) if is_sure else None] += 1
    return answers


def main():
    totals = collections.Counter()
    for metric, answers in sorted(count_answers(sys.argv[1]).items()):
        sure = {answer for answer in answers if answer is not None}
        if not sure:
            totals["never sure"] += 1
        elif len(sure) > 1:
            totals["sure and different"] += 1
            print("different:", metric, dict(answers))
        elif len(answers) > 1:
            totals["sure in a part of the runs, with one value"] += 1
            print("in part:", metric, dict(answers))
        else:
            totals["the same and sure in all"] += 1
    for what, count in totals.most_common():
        print(count, what)


if __name__ == "__main__":
    main()
