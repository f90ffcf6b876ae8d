#!/usr/bin/env bash
# Audits the nodes of a partition one by one as they become idle, without draining the queue:
#
#   rolling.sh <partition> <GPUs per node> [options of sbatch] [-- options of `sonde run`]
#
# Submits one small low-priority job per node, then merge.sbatch, which joins their run files and
# reports. (Not a job array, whose tasks cannot each get a node of their own.) Nodes that are down,
# drained, failing, powered down or in maintenance, and nodes that sbatch refuses, are named and
# left out. Jobs that cannot end by the deadline are removed, so the merge always runs: after 12
# hours, or as set by --deadline=now+5hours. The merge gets account, qos and reservation from the
# options of sbatch. Needs `sonde` on PATH, and audit.sbatch and merge.sbatch in its own folder.
set -euo pipefail

usage='usage: rolling.sh <partition> <GPUs per node> [options of sbatch] [-- options of sonde run]'
partition=${1:?$usage}
gpus_per_node=${2:?$usage}
shift 2
sbatch_options=()
merge_options=()
while (($#)) && [[ $1 != -- ]]; do
  case $1 in
    --account | --qos | --reservation | -[Aq]) merge_options+=("$1" "${2:?$usage}") ;;
    --account=* | --qos=* | --reservation=* | -[Aq]*) merge_options+=("$1") ;;
  esac
  sbatch_options+=("$1")
  shift
done
(($# == 0)) || shift
here=$(dirname "$(readlink -f "$0")")

jobs=()
while read -r node state; do
  case $state in
    down* | drain* | fail* | error* | unknown* | inval* | maint* | reboot* | power* | no_respond* | *[*~%!@^$])
      echo "rolling.sh: $node is left out: $state $(sinfo --noheader --nodes "$node" --format %E | head -n 1)" >&2
      continue
      ;;
  esac
  if job=$(sbatch --parsable --partition "$partition" --nodelist "$node" --nodes 1 --nice=10000 \
    --ntasks-per-node "$gpus_per_node" --gpus-per-node "$gpus_per_node" --time 00:30:00 \
    --deadline now+12hours "${sbatch_options[@]}" "$here/audit.sbatch" "$@"); then
    jobs+=("$job")
  else
    echo "rolling.sh: $node is left out: sbatch refused it" >&2
  fi
done < <(sinfo --noheader --Node --partition "$partition" --format '%N %T' | sort -u)
((${#jobs[@]})) || { echo "rolling.sh: no job was submitted to partition $partition" >&2; exit 1; }

# Slurm runs a copy of a batch script, which does not know the folder of the other scripts.
merge=("$here/merge.sbatch" "sonde-$partition-$(date +%Y%m%d)" "${jobs[@]}")
if ! SONDE_SCRIPTS=$here sbatch --parsable --partition "$partition" "${merge_options[@]}" \
  --dependency "afterany:$(IFS=: && echo "${jobs[*]}")" "${merge[@]}"; then
  echo "rolling.sh: sbatch refused the merge; when the jobs have ended: SONDE_SCRIPTS=$here sbatch ${merge[*]}" >&2
  exit 1
fi
