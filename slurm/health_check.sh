#!/usr/bin/env bash
# HealthCheckProgram of slurmd: checks driver, GPUs and machine with `sonde doctor`. It puts no load
# on GPUs, since a job may start at the same time.
#
#   HealthCheckProgram=/etc/slurm/sonde/health_check.sh
#   HealthCheckInterval=900
#   HealthCheckNodeState=IDLE
#
# Slurm ignores the status of a health check. If site.env says so, the second failure in a row
# drains the node, unless it is already drained.
set -uo pipefail
# shellcheck source=node_check.sh
. "$(dirname "$(readlink -f "$0")")/node_check.sh" || exit

mkdir -p "$state" || exit 0
exec 9>>"$state/health.lock" || exit 0
flock --timeout 1 9
case $? in
  0)
    touch "$state/health.since"
    run_bounded "$health_limit_s" "$state/doctor.txt" env -i PATH="$PATH" HOME=/root "${mpi_environment[@]}" \
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      "$sonde" doctor "${doctor_options[@]}" -o "$state/doctor.h5"
    status=$?
    ;;
  1) # a doctor that hangs keeps the lock
    since_s=$(($(date +%s) - $(stat -c %Y "$state/health.since" 2>/dev/null || date +%s)))
    ((since_s > health_limit_s)) || exit 0
    status=124
    ;;
  *) exit 0 ;;
esac
publish sonde_doctor.prom <<TEXT
# HELP sonde_doctor_healthy 1: this node can measure; 0: see doctor.txt on the node
# TYPE sonde_doctor_healthy gauge
sonde_doctor_healthy{Hostname="$(uname -n)"} $((status == 0))
TEXT
case $status in
  0) rm -f "$state/unhealthy"; exit 0 ;;
  3 | 124) ;;
  *) say "sonde doctor ended with $status (see $state/doctor.txt)"; exit 0 ;; # broken installation
esac
reason=$(grep -m1 '^ *fail' "$state/doctor.txt" | tr -s ' "' ' ' | cut -c1-150)
say "unhealthy: ${reason:-sonde doctor did not end within $health_limit_s s}"
if [[ $health_drains == yes && -e $state/unhealthy ]]; then
  node=${SLURMD_NODENAME:-$(hostname -s)}
  slurm=(timeout --kill-after=1 4 scontrol)
  # Keep the reason of a person who has drained the node.
  if now=$("${slurm[@]}" --oneliner show node "$node") && ! [[ $now =~ \ State=[^\ ]*DRAIN ]]; then
    "${slurm[@]}" update nodename="$node" state=drain reason="sonde doctor: ${reason:-no answer}"
  fi
fi
touch "$state/unhealthy"
exit 1
