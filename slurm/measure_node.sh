#!/usr/bin/env bash
# measure_node.sh <ranks> <folder>: measures GPUs of this node into <folder>/run.h5 and
# metrics.prom. Ends with 4 if a GPU failed or was lost, else with the status of `sonde run`.
# epilog.sh calls it and limits its time.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=site.env
. "$here/site.env"
ranks=$1 folder=$2
run=$folder/run.h5

# An empty environment: with variables of the job, MPI would act as a part of the job.
clean=(env -i PATH="$PATH" HOME=/root OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_orte_execute_quiet=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe  # the same for Open MPI 5
  PRTE_MCA_hwloc_default_binding_policy=none "${mpi_environment[@]}")
[[ -z ${CUDA_VISIBLE_DEVICES:-} ]] || clean+=("CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES") # UUIDs

rm -rf "$run" "$run.parts"
# Each rank opens the lock itself, since MPI does not pass descriptors on.
"${clean[@]}" "$mpirun" -n "$ranks" flock --shared --no-fork "$folder/lock" \
  "$sonde" run --config "$here/site.toml" --force -o "$run"
status=$?
[[ -e $run ]] || exit "$status"
held_against=()
if [[ -n $baseline && -e $baseline ]]; then
  held_against=(--baseline "$baseline")
  "${clean[@]}" "$sonde" analyze "$run" "${held_against[@]}"
fi
"${clean[@]}" "$sonde" export "$run" "${held_against[@]}" --format prometheus >"$folder/metrics.part" || exit 1
mv "$folder/metrics.part" "$folder/metrics.prom" || exit 1
if grep -q '^sonde_device_verdict{.*} [34]$' "$folder/metrics.prom"; then exit 4; fi
exit "$status"
