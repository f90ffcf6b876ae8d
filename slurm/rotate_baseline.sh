#!/usr/bin/env bash
# rotate_baseline.sh <run file> <folder> [how many to keep]: makes a run the baseline of later runs,
# unless a GPU in it was lost or failed (also compared with the present baseline).
# <folder>/baseline.h5 is a link to the newest baseline. 14 are kept, and the first one for ever as
# reference.h5, since only that shows a GPU that gets a little slower every night. After an intended
# change (driver, clocks) remove baseline.h5: the next good run becomes the baseline.
set -euo pipefail

usage='usage: rotate_baseline.sh <run file> <folder> [how many to keep]'
run=${1:?$usage}
folder=${2:?$usage}
keep=${3:-14}

present=()
[[ ! -e $folder/baseline.h5 ]] || present=(--baseline "$folder/baseline.h5")
verdicts=$(sonde export "$run" "${present[@]}" --format prometheus)
if grep -q '^sonde_device_verdict{.*} [34]$' <<<"$verdicts"; then
  echo "rotate_baseline.sh: a GPU of $run failed or was lost: the baseline stays" >&2
  exit 0
fi
mkdir -p "$folder"
new=baseline-$(date -u +%Y%m%dT%H%M%SZ).h5
cp "$run" "$folder/$new.part"
mv "$folder/$new.part" "$folder/$new"
[[ -e $folder/reference.h5 ]] || cp "$folder/$new" "$folder/reference.h5"
ln -sfn "$new" "$folder/.newest" # then replace in one step, since others may read
mv -T "$folder/.newest" "$folder/baseline.h5"
find "$folder" -maxdepth 1 -name 'baseline-*.h5' -printf '%f\n' | sort -r | tail -n "+$((keep + 1))" |
  while read -r old; do rm "$folder/$old"; done
