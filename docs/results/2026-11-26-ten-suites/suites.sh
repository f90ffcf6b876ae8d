#!/bin/bash
# Whole suites with seeds behind the first, and how often each said what of structure: suites.sh SEED SUITES
set -u
for i in $(seq 1 "$2"); do
  sonde run --seed $(($1 + i)) --force --output s.h5 > "s$i.log" 2>&1
  echo "suite $i rc $? $(grep -E 'ALL WELL|INCOMPLETE|FAIL' "s$i.log" | head -2 | tr '\n' ' ')"
  sonde export --format csv-long s.h5 | grep -v ways_per_set > "s$i.csv"
done
python3 - <<'P'
import collections, csv, glob, re

WANTED = r"(cache\.(l1|l2|readonly|texture_l1|constant_l[123]|instruction_l[01])|tlb\.l[123])\." \
         r"(size_bytes|line_bytes|sector_bytes|fetch_bytes|sets|ways|replacement|index_function|write_policy|" \
         r"slices|slice_sets|slice_ways|slice_replacement|slice_function|entries|entry_bytes)"
counts = collections.defaultdict(collections.Counter)
for path in glob.glob("s*.csv"):
    for row in csv.DictReader(open(path)):
        if re.fullmatch(WANTED, row["metric"]):
            sure = "sure" if float(row["confidence"] or 0) >= 0.95 else "confidence " + row["confidence"][:4]
            counts[row["metric"]][(row["value"][:110], row["status"], sure)] += 1
for metric, values in counts.items():
    print("==", metric)
    for value, n in values.most_common(5):
        print("  ", n, *value)
P
