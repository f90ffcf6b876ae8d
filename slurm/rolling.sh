#!/usr/bin/env bash
# Audits a partition node by node as its nodes fall idle, without draining the queue:
#
#   rolling.sh <partition> <GPUs per node> [options of sbatch] [-- options of `sonde run`]
#
# One small low-priority job per node, then merge.sbatch, which joins their run files and reports. They are no job
# array: tasks of an array cannot be given a node each. Nodes that are down, drained or failing are left out, and
# named. What has not started and ended by the deadline is removed, so that the merge comes in any case: in 12 hours,
# or as --deadline=now+5hours says. It needs `sonde` on PATH, and audit.sbatch and merge.sbatch beside it.
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
while read -r node state; do
  case $state in
    down* | drain* | fail* | error* | unknown* | inval* | maint* | reboot* | power* | no_respond* | *'*')
      echo "rolling.sh: $node is left out: $state $(sinfo --noheader --nodes "$node" --format %E | head -n 1)" >&2
      continue
      ;;
  esac
  jobs+=("$(sbatch --parsable --partition "$partition" --nodelist "$node" --nodes 1 --nice=10000 \
    --ntasks-per-node "$gpus_per_node" --gpus-per-node "$gpus_per_node" --time 00:30:00 \
    --deadline now+12hours "${sbatch_options[@]}" "$here/audit.sbatch" "$@")")
done < <(sinfo --noheader --Node --partition "$partition" --format '%N %T' | sort -u)
((${#jobs[@]})) || { echo "rolling.sh: partition $partition has no node to audit" >&2; exit 1; }

# Of a batch script Slurm keeps a copy, which does not know where the others lie.
SONDE_SCRIPTS=$here sbatch --parsable --partition "$partition" \
  --dependency "afterany:$(IFS=: && echo "${jobs[*]}")" "$here/merge.sbatch" \
  "sonde-$partition-$(date +%Y%m%d)" "${jobs[@]}"
