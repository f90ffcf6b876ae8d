#!/usr/bin/env bash
# Epilog of slurmd: measures GPUs of an ended job from time to time, for two minutes at most.
#
#   Epilog=/etc/slurm/sonde/epilog.sh
#   PrologEpilogTimeout=150
#
# It calls no Slurm command and ends with 0, even if the installation is broken, with one exception:
# if site.env says so, it fails when a GPU of the node has a bad last verdict, is gone or hangs, and
# Slurm then drains the node. The records of each GPU are files named by its UUID (docs/slurm.md).
set -uo pipefail
trap 'exit 0' EXIT # also if files are missing or incomplete
# shellcheck source=node_check.sh
. "$(dirname "$(readlink -f "$0")")/node_check.sh" || exit
# shellcheck source=gpu_records.sh
. "$here/gpu_records.sh" || exit
[[ -n ${gpu_records_are_whole:-} ]] || exit

[[ -n ${SLURM_JOB_GPUS:-} ]] || exit # the job had no GPUs
mkdir -p "$records" || exit

# end: exits; fails (if site.env says so) while any GPU of the node is bad, whichever job found it.
end() {
  local bad found=no
  for bad in "$records"/*.bad; do
    [[ -e $bad ]] || continue
    found=yes
    say "GPU $(<"$bad") (see $state; forget it: rm $bad)"
  done
  [[ $found == yes && $epilog_drains == yes ]] || exit
  trap - EXIT
  exit 1
}

# Only one epilog measures at a time. Its ranks share `lock`, and a rank that hangs with its GPU
# keeps it. lock.since names the GPUs of the owner of `lock`; `door` is held until it is written, so
# that nobody reads it too early.
exec 8>>"$state/door" 9>>"$state/lock" || exit
flock --timeout 5 8 || exit
flock --timeout 1 9
case $? in
  0) ;;
  1)
    since_s=$(($(date +%s) - $(stat -c %Y "$state/lock.since" 2>/dev/null || date +%s)))
    ((since_s > 2 * epilog_limit_s)) || end
    for uuid in $(<"$state/lock.since"); do record_bad "$uuid" 124 "has hung for $since_s s"; done
    end
    ;;
  *) exit ;;
esac
echo driver >"$state/lock.since" || exit
begin=$SECONDS
if ! list_node_gpus; then
  record_bad driver 124 "does not list its GPUs within $epilog_limit_s s"
  end
fi
due=()
for gpu in ${SLURM_JOB_GPUS//,/ }; do
  uuid=$(uuid_of "$gpu")
  if [[ -z $uuid ]]; then
    say "GPU $gpu of the job is not known (does list_gpus of site.env count as Slurm does?)"
  elif [[ -s $now_listed ]] && ! grep -q " $uuid$" "$now_listed"; then
    record_bad "$uuid" 4 "is gone: the driver does not list it"
  elif is_due "$uuid"; then
    due+=("$uuid")
  fi
done
((${#due[@]})) || end
echo "${due[@]}" >"$state/lock.since" && touch "${due[@]/#/$records/}" || exit
flock --shared 9
exec 8>&-

metrics=$state/metrics.prom
rm -f "$metrics"
CUDA_VISIBLE_DEVICES=$(IFS=, && echo "${due[*]}")
export CUDA_VISIBLE_DEVICES # CUDA keeps this order and ends the list at a GPU that it cannot find
run_bounded "$((epilog_limit_s - SECONDS + begin))" "$state/epilog.log" "$here/measure_node.sh" "${#due[@]}" "$state"
status=$?
say "GPUs $CUDA_VISIBLE_DEVICES: status $status (see $state/epilog.log)"
reached=$(grep -E 'device jobs done|are measured again' "$state/epilog.log" | tail -n 1)
for uuid in "${due[@]}"; do
  if [[ $status == 124 ]]; then
    record_bad "$uuid" 124 "was not measured within $epilog_limit_s s${reached:+, last it said: ${reached#sonde: }}"
  elif [[ ! $status =~ ^(0|3|4|75)$ || ! -s $metrics ]]; then
    record_unknown "$uuid" "$status" # the installation is broken
  elif grep -q "^sonde_device_verdict{UUID=\"$uuid\"" "$metrics"; then
    record_measured "$uuid" "$metrics"
  else
    record_bad "$uuid" 4 "is gone: CUDA does not show it"
    break # the GPUs after it are hidden, too, but may be good
  fi
done
end
