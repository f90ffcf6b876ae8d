#!/bin/bash
# Whole suites, then some jobs alone with other seeds; how often each said what: structure.sh SEED SUITES RUNS JOBS
set -u
for i in $(seq 1 "$2"); do
  sonde run --seed $(($1 + i)) --force --output s.h5 > "s$i.log" 2>&1
  echo "suite $i rc $? $(grep -E 'ALL WELL|INCOMPLETE|FAIL' "s$i.log" | head -2 | tr '\n' ' ')"
  sonde export --format csv-long s.h5 | grep -v ways_per_set > "s$i.csv"
done
for i in $(seq 1 "$3"); do
  sonde run --seed $(($1 + 100 + i)) --jobs "$4" --force --output t.h5 > "t$i.log" 2>&1 || echo "run $i rc $?"
  sonde export --format csv-long t.h5 | grep -v ways_per_set > "t$i.csv"
done
python3 - <<'P'
import collections, csv, glob, re

WANTED = r"(cache\.(l1|readonly|texture_l1)|tlb\.(l[12]|texture_l[12]))\." \
         r"(size_bytes|line_bytes|sets|ways|replacement|entries|entry_bytes)|tlb\.page_window_bytes"
counts = collections.defaultdict(collections.Counter)
for path in glob.glob("[st]*.csv"):
    for row in csv.DictReader(open(path)):
        if re.fullmatch(WANTED, row["metric"]):
            counts[row["metric"]][(row["value"][:60], row["status"], row["confidence"][:4])] += 1
for metric, values in sorted(counts.items()):
    print(metric, "; ".join(f"{n} {' '.join(key)}" for key, n in values.most_common(5)))
P
