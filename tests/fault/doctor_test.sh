#!/usr/bin/env bash
# doctor_test.sh <sonde> [<folder with a libcuda.so.1 that hangs>]: `sonde doctor` says what is
# wrong with a machine, ends in ten seconds with the right status, and leaves nothing behind.
set -uo pipefail
sonde=$(readlink -f "$1")
hung=${2:+$(readlink -f "$2")}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/folder"
cd "$work/folder" || exit 1
failures=0

# says <status> <pattern of a line of stdout> <command ...>
says() {
  local status=$1 pattern=$2 got begin=$SECONDS
  shift 2
  timeout 60 "$@" >"$work/out.txt" 2>"$work/err.txt"
  got=$?
  if ((got != status || SECONDS - begin > 10)) || ! grep -qE -- "$pattern" "$work/out.txt"; then
    echo "FAILED: $* ended with $got (expected $status) after $((SECONDS - begin)) s, looked for" \
      "'$pattern' in:"
    cat "$work/out.txt" "$work/err.txt"
    failures=$((failures + 1))
  fi
}

doctor=("$sonde" doctor --backend sim:h200)
says 0 '^ok +mpi.start +rank 0 of 1 ' "${doctor[@]}"
says 0 '^ok +hdf5 +HDF5 .*wrote a file' "${doctor[@]}"
says 0 '^this machine can measure \(' "${doctor[@]}"
says 0 '^\{.*"can_measure":true.*\}$' "${doctor[@]}" --format json
says 3 "^fail +output +cannot write into '/nowhere'" "${doctor[@]}" -o /nowhere/run.h5
says 3 '^this machine cannot measure as it is \(' "${doctor[@]}" -o /nowhere/run.h5
says 0 '^warn +mpi.settings .*OMPI_MCA_fcoll=vulcan' env OMPI_MCA_fcoll=vulcan "${doctor[@]}"
says 3 '^fail +limits.file_size ' bash -c 'ulimit -f 64; exec "$@"' _ "${doctor[@]}"
says 3 '^fail +limits.open_files ' bash -c 'ulimit -n 30; exec "$@"' _ "${doctor[@]}"
says 3 ' fail +mpi.start .*which started 4' env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 \
  SLURM_LOCALID=0 "${doctor[@]}"
for bad in "--suite long" "--format xml" "--backend sim:nothing"; do
  # shellcheck disable=SC2086
  "$sonde" doctor $bad >"$work/out.txt" 2>"$work/err.txt"
  if [[ $? != 2 || -s $work/out.txt || $(wc -l <"$work/err.txt") != 1 ]]; then
    echo "FAILED: $bad was not refused" && failures=$((failures + 1))
  fi
done

# Under a launcher one rank speaks for its node, with the name of it.
says 0 "^$(uname -n)  ok +mpi.start +rank 0 of 2 " mpirun -n 2 "${doctor[@]}"
if [[ $(grep -c 'mpi.start' "$work/out.txt") != 1 ]]; then
  echo "FAILED: not one rank spoke" && failures=$((failures + 1))
fi

if ! ldconfig -p | grep -q libcuda.so.1 && [[ ! -e /dev/nvidiactl ]]; then
  says 3 '^fail +driver ' "$sonde" doctor
  says 3 '^skipped +gpu0 ' "$sonde" doctor
fi
if [[ -n $hung ]]; then
  says 3 '^fail +driver +no answer within' env LD_LIBRARY_PATH="$hung" "$sonde" doctor
  says 3 '^ok +mpi.start ' env LD_LIBRARY_PATH="$hung" "$sonde" doctor
fi
if [[ -n $(ls -A .) ]]; then
  echo "FAILED: left behind:" && ls -A && failures=$((failures + 1))
fi
((failures == 0)) && echo "passed"
exit $((failures > 0))
