#!/usr/bin/env bash
# Epilog of slurmd: measures the GPUs that a job has just given back, two minutes at most, now and then.
#
#   Epilog=/etc/slurm/sonde/epilog.sh
#   PrologEpilogTimeout=150
#
# It calls no Slurm command, and ends with 0 whatever happens, but for this: if site.env says so, a GPU that
# failed its verdict or hangs makes it fail, and Slurm drains the node. A broken installation drains nothing.
set -uo pipefail
trap 'exit 0' EXIT # of what is missing or half copied, too
# shellcheck source=node_check.sh
. "$(dirname "$(readlink -f "$0")")/node_check.sh" || exit

gpus=${SLURM_JOB_GPUS:-}
[[ -n $gpus ]] || exit # the job had none
mkdir -p "$state" || exit

drain_if_wanted() {
  say "$1 (see $state)"
  [[ $epilog_drains == yes ]] || exit
  trap - EXIT
  exit 1
}

# One at a time: ranks share `lock`, and one that is left behind keeps it as long as its GPU hangs. `door` is held
# until lock.since is that of who has `lock`: nobody reads it before.
exec 8>>"$state/door" 9>>"$state/lock" || exit
flock --timeout 5 8 || exit
flock --timeout 1 9
case $? in
  0) ;;
  1)
    since_s=$(($(date +%s) - $(stat -c %Y "$state/lock.since" 2>/dev/null || date +%s)))
    ((since_s > 2 * epilog_limit_s)) && drain_if_wanted "a GPU has hung for $since_s s"
    exit
    ;;
  *) exit ;;
esac
last=$(stat -c %Y "$state/measured" 2>/dev/null || echo 0)
(($(date +%s) - last >= epilog_every_s)) || exit
touch "$state/lock.since" "$state/measured" || exit
flock --shared 9
exec 8>&-

gpu_list=${gpus//[!,]/}
export CUDA_VISIBLE_DEVICES=$gpus
run_bounded "$epilog_limit_s" "$state/epilog.log" "$here/measure_node.sh" $((${#gpu_list} + 1)) "$state"
status=$?
if [[ -s $state/metrics.prom && $state/metrics.prom -nt $state/measured ]]; then
  publish sonde.prom <"$state/metrics.prom"
fi
case $status in
  0 | 3 | 75) say "GPUs $gpus measured, status $status" ;;
  4) drain_if_wanted "a GPU of $gpus failed its verdict" ;;
  124)
    reached=$(grep -E 'device jobs done|are measured again' "$state/epilog.log" | tail -n 1)
    drain_if_wanted "GPUs $gpus were not measured within $epilog_limit_s s${reached:+, last it said: ${reached#sonde: }}"
    ;;
  *) say "GPUs $gpus were not measured, status $status (see $state/epilog.log)" ;;
esac
