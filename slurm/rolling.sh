#!/usr/bin/env bash
# Audits a partition node by node as its nodes fall idle, without draining the queue:
#
#   rolling.sh <partition> <GPUs per node> [options of sbatch] [-- options of `sonde run`]
#
# One small low-priority job per node, then one that merges their run files and reports. It needs
# `sonde` on PATH, and audit.sbatch beside it.
set -euo pipefail

usage='usage: rolling.sh <partition> <GPUs per node> [options of sbatch] [-- options of sonde run]'
partition=${1:?$usage}
gpus_per_node=${2:?$usage}
shift 2
sbatch_options=()
while (($#)) && [[ $1 != -- ]]; do
  sbatch_options+=("$1")
  shift
done
(($# == 0)) || shift
here=$(dirname "$(readlink -f "$0")")

jobs=()
for node in $(sinfo --noheader --Node --partition "$partition" --format %N | sort -u); do
  jobs+=("$(sbatch --parsable --partition "$partition" --nodelist "$node" --nodes 1 --nice=10000 \
    --ntasks-per-node "$gpus_per_node" --gpus-per-node "$gpus_per_node" --time 00:30:00 \
    "${sbatch_options[@]}" "$here/audit.sbatch" "$@")")
done
((${#jobs[@]})) || { echo "rolling.sh: partition $partition has no nodes" >&2; exit 1; }

run_files=()
for job in "${jobs[@]}"; do
  run_files+=("sonde-$job.h5")
done
fleet=sonde-$partition-$(date +%Y%m%d)
sbatch --parsable --partition "$partition" --job-name sonde-merge --output "$fleet.out" \
  --dependency "afterany:$(IFS=: && echo "${jobs[*]}")" --wrap \
  "ls ${run_files[*]} | xargs sonde merge --force -o $fleet.h5 &&
   sonde report $fleet.h5 -o $fleet.html --force"
