#!/bin/sh
# Usage: lost_rank_test.sh <lost_rank> <hang|die> <mpiexec and its options...>
# The job must end with status 3, and the file must hold all devices, the lost one marked so.
program=$1 mode=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
timeout -k 5 60 "$@" "$program" "$folder/run.h5" "$mode"
status=$?
# Where mpirun is told to outlive a dead rank, it reports 0 whatever the others return.
if [ "$status" -ne 3 ] && { [ "$mode" != die ] || [ "$status" -ne 0 ]; }; then
  echo "ended with status $status, not 3"
  exit 1
fi
devices=$(h5dump -A 0 -d /devices/status "$folder/run.h5" | tr -d '\0') || exit 1
echo "$devices"
[ "$(echo "$devices" | grep -ao '"complete' | wc -l)" -eq 2 ] || exit 1
[ "$(echo "$devices" | grep -ao '"lost' | wc -l)" -eq 1 ] || exit 1
