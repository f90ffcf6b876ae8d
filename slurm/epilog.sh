#!/usr/bin/env bash
# Epilog of slurmd: measures the GPUs that a job has just given back, two minutes at most, now and then.
#
#   Epilog=/etc/slurm/sonde/epilog.sh
#   PrologEpilogTimeout=150
#
# It calls no Slurm command, and ends with 0 whatever happens, but for this: if site.env says so, a GPU that
# failed its verdict, is gone or hangs makes it fail, and Slurm drains the node. A broken installation drains nothing.
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

publish_status() {
  publish sonde_epilog.prom <<TEXT
# HELP sonde_epilog_status of the last measurement: as of \`sonde run\`; 124: it did not end in time
# TYPE sonde_epilog_status gauge
sonde_epilog_status{Hostname="$(uname -n)"} $1
# HELP sonde_epilog_timestamp_seconds when that was
# TYPE sonde_epilog_timestamp_seconds gauge
sonde_epilog_timestamp_seconds{Hostname="$(uname -n)"} $(date +%s)
TEXT
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
    ((since_s > 2 * epilog_limit_s)) || exit
    publish_status 124
    drain_if_wanted "a GPU has hung for $since_s s"
    ;;
  *) exit ;;
esac
last=$(stat -c %Y "$state/measured" 2>/dev/null || echo 0)
(($(date +%s) - last >= epilog_every_s)) || exit
touch "$state/lock.since" "$state/measured" || exit
flock --shared 9
exec 8>&-

gpu_list=${gpus//[!,]/}
ranks=$((${#gpu_list} + 1))
metrics=$state/metrics.prom
rm -f "$metrics"
export CUDA_VISIBLE_DEVICES=$gpus
run_bounded "$epilog_limit_s" "$state/epilog.log" "$here/measure_node.sh" "$ranks" "$state"
status=$?
what="a GPU of $gpus failed its verdict"
# A GPU that the driver does not list leaves a rank without one, which is no error.
if [[ $status =~ ^(0|3|4|75)$ && -s $metrics ]]; then
  publish sonde.prom <"$metrics"
  gone=$((ranks - $(grep -c '^sonde_device_verdict{' "$metrics")))
  ((gone <= 0)) || { status=4 what="$gone of $ranks GPUs are gone"; }
fi
publish_status "$status"
case $status in
  0 | 3 | 75) say "GPUs $gpus measured, status $status" ;;
  4) drain_if_wanted "$what" ;;
  124)
    reached=$(grep -E 'device jobs done|are measured again' "$state/epilog.log" | tail -n 1)
    reached=${reached:+, last it said: ${reached#sonde: }}
    drain_if_wanted "GPUs $gpus were not measured within $epilog_limit_s s$reached"
    ;;
  *) say "GPUs $gpus were not measured, status $status (see $state/epilog.log)" ;;
esac
