#!/usr/bin/env python3
"""Checks papers.csv, what of each row of the papers comes back, and that docs/results/papers-rows.md
is what the table gives; with --write, writes that page."""
import argparse
import collections
import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("papers.csv")
PAGE = ROOT / "docs/results/papers-rows.md"
COLUMNS = ["paper", "place", "row", "state", "test", "reason"]
PAPERS = ["Wong 2010", "Meltzer 2013", "Mei 2014", "Mei and Chu 2016", "Dai 2016"]
STATES = {"yes": "yes", "thin": "thin", "open": "open", "not_applicable": "not applicable"}
TESTED = {"yes", "thin"}
TOLD = "The simulated GPU is told"
HEAD = """# What of the papers comes back

Each number and each curve of the five papers that sonde builds on. The simulated copies of their GPUs have
the published structure, and sonde measures them as it measures a real GPU. [papers.md](papers.md) has what it
finds.

| state | meaning |
|---|---|
| yes | A job finds the row in the timed accesses of the simulated GPU (of Dai 2016: the [study](../methods/bypass.md)). A test compares it with the paper: structure exactly, cycles within 3 %, else as near as the paper says. |
| thin | A test shows less than the row: a part of a curve, the simulated GPU without the job, or a number that the simulated GPU was told and that only comes out again. The reason says which. |
| open | The row does not come back, or no test compares it. |
| not applicable | There is nothing to measure. |

[papers.csv](../../tests/sim/papers.csv) is the table behind this page and names the test of each row. After a
change of the table: `tests/sim/papers_rows.py --write`.

"""


def read_rows():
    with TABLE.open(newline="") as table:
        reader = csv.DictReader(table)
        rows = list(reader)
    if reader.fieldnames != COLUMNS:
        sys.exit(f"papers.csv: the columns are {reader.fieldnames}, not {COLUMNS}")
    return rows


def known_tests():
    """suite.test of gtest, names of ctest, and path:method of Python."""
    known = set()
    for source in (ROOT / "tests").rglob("*.cpp"):
        known.update(f"{suite}.{test}" for suite, test in
                     re.findall(r"^TEST(?:_[PF])?\(\s*(\w+),\s*(\w+)\)", source.read_text(), re.MULTILINE))
    for cmake in (ROOT / "tests").rglob("CMakeLists.txt"):
        known.update(re.findall(r"add_test\(NAME ([\w.]+)", cmake.read_text()))
    for script in (ROOT / "tests").rglob("*_test.py"):
        path = script.relative_to(ROOT).as_posix()
        known.update(f"{path}:{method}" for method in re.findall(r"def (test_\w+)\(", script.read_text()))
    return known


def faults_of(rows, known):
    """What is wrong with the table, by line."""
    seen = set()
    for line, row in enumerate(rows, 2):
        state, is_tested = row["state"], row["state"] in TESTED
        key = (row["paper"], row["place"], row["row"])
        for is_wrong, fault in (
                (None in row or None in row.values(), "has not six columns"),
                (row["paper"] not in PAPERS, f"no paper {row['paper']!r}"),
                (not row["place"] or not row["row"], "no place or no row"),
                (state not in STATES, f"no state {state!r}"),
                (is_tested and row["test"] not in known, f"no test {row['test']!r}"),
                (not is_tested and row["test"], f"{state} with a test"),
                (state == "yes" and row["reason"], "yes with a reason"),
                (state != "yes" and not (row["reason"] or "").endswith("."), f"{state} without a sentence"),
                (key in seen, "is there twice")):
            if is_wrong:
                yield f"papers.csv:{line}: {fault}"
        seen.add(key)


def counts_of(name, rows):
    counts = collections.Counter(row["state"] for row in rows)
    told = sum(row["reason"].startswith(TOLD) for row in rows)
    return f"| {name} | {counts['yes']} | {counts['thin']} ({told}) | {counts['open']} | {counts['not_applicable']} |\n"


def make_page(rows):
    of_paper = {paper: [row for row in rows if row["paper"] == paper] for paper in PAPERS}
    text = HEAD + "| paper | yes | thin (of these: told) | open | not applicable |\n|---|---:|---:|---:|---:|\n"
    text += "".join(counts_of(paper, of_paper[paper]) for paper in PAPERS) + counts_of("all", rows)
    for paper in PAPERS:
        text += f"\n## {paper}\n\n| place | row | state | reason |\n|---|---|---|---|\n"
        for row in of_paper[paper]:
            cells = (row["place"], row["row"], STATES[row["state"]], row["reason"])
            text += "| " + " | ".join(cell.replace("|", "\\|").replace("_", "\\_") for cell in cells) + " |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    write = parser.parse_args().write
    rows = read_rows()
    faults = list(faults_of(rows, known_tests()))
    if not faults and write:
        PAGE.write_text(make_page(rows))
    if not faults and (not PAGE.exists() or PAGE.read_text() != make_page(rows)):
        faults = [f"{PAGE.relative_to(ROOT)}: is not what papers.csv gives (run {Path(__file__).name} --write)"]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
