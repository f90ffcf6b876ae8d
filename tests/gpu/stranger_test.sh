#!/usr/bin/env bash
# stranger_test.sh <sonde> <stranger>: what sonde measures predicts what another program sees.
set -euo pipefail
status=0
"$2" 2>/dev/null || status=$?
((status != 77)) || exit 77  # no GPU
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" run --jobs cache.l1,tlb,slices -o "$folder/run.h5"
"$1" export --format json "$folder/run.h5" > "$folder/report.json"
"$2" "$folder/report.json"
