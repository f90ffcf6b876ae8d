#!/usr/bin/env bash
# HealthCheckProgram of slurmd: asks driver, GPUs and the machine what `sonde doctor` asks. It puts no load on
# GPUs: a job may start meanwhile.
#
#   HealthCheckProgram=/etc/slurm/sonde/health_check.sh
#   HealthCheckInterval=900
#   HealthCheckNodeState=IDLE
#
# Slurm looks at no status of a health check. If site.env says so, the second failure in a row drains the node.
set -uo pipefail
# shellcheck source=node_check.sh
. "$(dirname "$(readlink -f "$0")")/node_check.sh"

mkdir -p "$state" || exit 0
exec 9>>"$state/health.lock"
flock --nonblock 9 || exit 0

run_bounded "$health_limit_s" "$state/doctor.txt" env -i PATH="$PATH" HOME=/root "${mpi_environment[@]}" \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  "$sonde" doctor "${doctor_options[@]}" -o "$state/doctor.h5" 9>&-
status=$?
case $status in
  0) healthy=1 ;;
  3 | 124) healthy=0 ;;
  *) say "sonde doctor ended with $status (see $state/doctor.txt)"; exit 0 ;; # a broken installation
esac
publish sonde_doctor.prom <<TEXT
# HELP sonde_doctor_healthy 1: this node can measure; 0: see doctor.txt on the node
# TYPE sonde_doctor_healthy gauge
sonde_doctor_healthy{Hostname="$(uname -n)"} $healthy
TEXT
if ((healthy)); then
  rm -f "$state/unhealthy"
  exit 0
fi
reason=$(grep -m1 '^ *fail' "$state/doctor.txt" | tr -s ' "' ' ' | cut -c1-150)
say "unhealthy: ${reason:-sonde doctor did not end within $health_limit_s s}"
if [[ $health_drains == yes && -e $state/unhealthy ]]; then
  timeout --kill-after=2 8 scontrol update nodename="${SLURMD_NODENAME:-$(hostname -s)}" state=drain \
    reason="sonde doctor: ${reason:-no answer}"
fi
touch "$state/unhealthy"
exit 1
