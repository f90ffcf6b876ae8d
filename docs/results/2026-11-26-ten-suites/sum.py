#!/usr/bin/env python3
"""Adds up the outputs of score_random_gpus, one file per GPU: by family, and what was wrong.

usage: sum.py FOLDER [--wrong] [--unresolved]
"""
import argparse
import pathlib
import re

ROW = re.compile(r"^(\S.*?)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+) %\s+(\d+)\s+([\d.]+) %$")
COLUMNS = ("values", "right", "unresolved", "wrong", "confident", "confident_right")


def read(path):
    """Counts by family, the jobs lost, and the lines of values that were not right."""
    families, lines, lost, is_whole = {}, [], [], False
    for line in path.read_text().splitlines():
        row = ROW.match(line)
        if row and row[1].startswith("all of"):
            is_whole = True
        elif row:
            confident = int(row[7])
            right = round(confident * float(row[8]) / 100)
            families[row[1]] = [int(row[i]) for i in range(2, 6)] + [confident, right]
        elif line.startswith("  WRONG") or line.startswith("  unresolved"):
            lines.append(line)
        elif re.match(r"^  \S+ of seed .*: ", line):
            lost.append(line)
    return families, lines, lost, is_whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--unresolved", action="store_true")
    asked = parser.parse_args()
    sums, lines, lost, gpus, broken = {}, [], [], 0, []
    for path in sorted(asked.folder.glob("*.txt")):
        families, of_gpu, lost_here, is_whole = read(path)
        if not is_whole:
            broken.append(path.stem)
            continue
        gpus += 1
        lines += of_gpu
        lost += lost_here
        for family, counts in families.items():
            total = sums.setdefault(family, [0] * len(COLUMNS))
            sums[family] = [a + b for a, b in zip(total, counts)]
    sums = dict(sorted(sums.items()))
    sums["ALL"] = [sum(counts) for counts in zip(*sums.values())]
    for family, (n, right, unresolved, wrong, confident, confident_right) in sums.items():
        print(f"{family:<24} n {n:6} right {right:6} unresolved {unresolved:5} "
              f"({100 * unresolved / n:4.1f} %) wrong {wrong:4} honest {100 * (n - wrong) / n:5.1f} % "
              f"confident {confident:6} right {100 * confident_right / max(confident, 1):5.1f} %")
    print(f"{gpus} GPUs, {len(lost)} lost jobs, {len(broken)} unfinished: {' '.join(broken)}")
    for line in lost:
        print("LOST", line.strip()[:300])
    for kind, wanted in (("WRONG", asked.wrong), ("unresolved", asked.unresolved)):
        for line in lines:
            if wanted and line.strip().startswith(kind) and "ways_per_set" not in line:
                print(line[:240])


main()
