#!/usr/bin/env bash
# fuzz.sh <folder of the fuzz programs> <seconds for each target> <results> [targets]: runs libFuzzer
# on each target in turn. Grown corpora and what crashed lie under <results>; ends with 1 if
# anything crashed, hung for 10 s or took more than 1 GB.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
programs=$(readlink -f "$1")
seconds=$2
mkdir -p "$3"
results=$(readlink -f "$3")
shift 3
(($#)) || set -- run_file shard baseline config model
models=$here/../../src/device/sim/model/shipped

# HDF5 loses memory when a file fails, and is not looked into for leaks here.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32
TMPDIR=$(mktemp -d -p /dev/shm)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# The words of the models that there are and of what reads them, and numbers at the ends of types.
{
  grep -hoE '"[A-Za-z0-9_ .]+":?' "$models"/*.json "$models"/../*.cpp | sort -u | sed 's/"/\\"/g; s/.*/"&"/'
  printf '"%s"\n' -1 0 1e308 2147483647 4294967296 null '[]' '{}' '\"0xffffffffffffffff\"' '\"16 EiB\"'
} >"$results/model.dict"
failures=0
for target in "$@"; do
  corpus=$results/$target
  crashes=$results/$target.crashes
  mkdir -p "$corpus" "$crashes"
  form=$target
  [[ $target != shard && $target != baseline ]] || form=run_file
  dictionary=$here/dictionaries/$form.dict
  [[ $target != model ]] || dictionary=$results/model.dict
  seeds=("$here/corpus/$form")
  [[ $target != model ]] || seeds+=("$models")
  # One process after the other, each of which ends at its first crash: the next goes on.
  "$programs/fuzz_$target" -fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1 \
    -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=1024 \
    -dict="$dictionary" -artifact_prefix="$crashes/" \
    "$corpus" "${seeds[@]}" >"$results/$target.log" 2>&1
  found=$(find "$crashes" -type f | wc -l)
  last=$(grep -E '^#[0-9]+: cov' "$results/$target.log" | tail -1)
  printf '%-10s %s; %s inputs crashed\n' "$target" "${last:-no progress}" "$found"
  ((found == 0)) && [[ -n $last ]] || failures=1
done
exit $failures
