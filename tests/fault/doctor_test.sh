#!/usr/bin/env bash
# doctor_test.sh <sonde> <library without flock> [<folder with a libcuda.so.1 that hangs>]:
# `sonde doctor` says what is wrong with a machine, ends in ten seconds with the right status, and
# leaves nothing behind. `sonde run` refuses with the same line what is certain to go wrong.
set -uo pipefail
sonde=$(readlink -f "$1")
no_flock=$(readlink -f "$2")
hung=${3:+$(readlink -f "$3")}
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
says 0 '^ok +mpi +rank 0 of 1 ' "${doctor[@]}"
says 0 '^this machine can measure$' "${doctor[@]}"
says 3 "^fail +output +cannot write into '/nowhere'" "${doctor[@]}" -o /nowhere/run.h5
says 3 '^this machine cannot measure as it is$' "${doctor[@]}" -o /nowhere/run.h5

# refuses <status> <name of the doctor's line> <command ...>: as the command stands before `doctor`,
# that line is a failure; before `run`, alone and with --dry-run, it is an error that ends with <status>.
refuses() {
  local status=$1 name=$2 line got way
  shift 2
  timeout 60 "$@" "${doctor[@]}" "${place[@]}" >"$work/out.txt" 2>"$work/err.txt"
  line=$(sed -nE "s/^.*fail +$name +//p" "$work/out.txt")
  [[ -n $line ]] || { echo "FAILED: no failure $name in:" && cat "$work/out.txt"; failures=$((failures + 1)); }
  for way in "" --dry-run; do
    # shellcheck disable=SC2086
    timeout 60 "$@" "${quick[@]}" "${place[@]}" $way >"$work/out.txt" 2>"$work/err.txt"
    got=$?
    if ((got != status)) || ! grep -qF -- "$line" "$work/err.txt" || [[ -s $work/out.txt ]] ||
      [[ -n $(ls -A .) ]]; then
      echo "FAILED: run $way after $* ended with $got (expected $status) and not with '$line':"
      cat "$work/out.txt" "$work/err.txt"
      ls -A
      rm -rf ./*
      failures=$((failures + 1))
    fi
  done
}
# starts <command ...>: nothing refuses such a run
starts() {
  if ! timeout 60 "$@" "${quick[@]}" >"$work/out.txt" 2>"$work/err.txt"; then
    echo "FAILED: a run was refused after $*" && cat "$work/err.txt"
    failures=$((failures + 1))
  fi
  rm -rf ./*
}

quick=("$sonde" run --backend sim:gtx280 --jobs clock --suite quick)
place=(-o run.h5)
step=(env SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_LOCALID=0)
# shellcheck disable=SC2016 # the process that becomes sonde is the task
as_task=(bash -c 'SLURM_TASK_PID=$$ exec "$@"' _)
refuses 2 mpi.launch "${step[@]}" SLURM_STEP_NUM_TASKS=4 "${as_task[@]}"
refuses 2 mpi.launch env OMPI_COMM_WORLD_SIZE=2
starts "${step[@]}" "${as_task[@]}"                         # a batch script
starts "${step[@]}" SLURM_STEP_NUM_TASKS=1 "${as_task[@]}"  # srun -n 1
# shellcheck disable=SC2016
starts "${step[@]}" SLURM_STEP_NUM_TASKS=4 bash -c 'SLURM_TASK_PID=$$; export SLURM_TASK_PID; "$@"; exit' _ # --pty

refuses 1 output.locks env LD_PRELOAD="$no_flock" HDF5_USE_FILE_LOCKING=TRUE
starts env LD_PRELOAD="$no_flock"
starts env LD_PRELOAD="$no_flock" HDF5_USE_FILE_LOCKING=BEST_EFFORT
starts env HDF5_USE_FILE_LOCKING=TRUE
place=(-o /nowhere/run.h5)
refuses 1 output
refuses 1 output mpirun -n 2
place=(-o /proc/run.h5)
refuses 1 output

for bad in "--suite long" "--backend sim:nothing"; do
  # shellcheck disable=SC2086
  "$sonde" doctor $bad >"$work/out.txt" 2>"$work/err.txt"
  if [[ $? != 2 || -s $work/out.txt || $(wc -l <"$work/err.txt") != 1 ]]; then
    echo "FAILED: $bad was not refused" && failures=$((failures + 1))
  fi
done

# Under a launcher one rank speaks for its node, with the name of it.
says 0 "^$(uname -n)  ok +mpi +rank 0 of 2 " mpirun -n 2 "${doctor[@]}"
if [[ $(grep -c 'rank 0 of 2' "$work/out.txt") != 1 ]]; then
  echo "FAILED: not one rank spoke" && failures=$((failures + 1))
fi

if ! ldconfig -p | grep -q libcuda.so.1 && [[ ! -e /dev/nvidiactl ]]; then
  says 3 '^fail +driver ' "$sonde" doctor
  says 3 '^fail +gpus ' "$sonde" doctor
fi
if [[ -n $hung ]]; then
  says 3 '^fail +driver +no answer within' env LD_LIBRARY_PATH="$hung" "$sonde" doctor
  grep -qE '^ok +mpi ' "$work/out.txt" || { echo "FAILED: not all else was looked at" && failures=$((failures + 1)); }
fi
if [[ -n $(ls -A .) ]]; then
  echo "FAILED: left behind:" && ls -A && failures=$((failures + 1))
fi
((failures == 0)) && echo "passed"
exit $((failures > 0))
