#!/usr/bin/env bash
# slurm_test.sh <sonde> <slurm folder>: submits audit.sbatch to a Slurm of two nodes on this machine.
# First an audit that runs through; then one that is told to stop, requeues itself and resumes.
set -euo pipefail
# shellcheck source=cluster.sh
. "$(dirname "$0")/cluster.sh"
fleet=(--nodes=2 --ntasks-per-node=2 --gpus-per-node=2)
options=(--backend sim:gtx980 --suite quick --jobs "clock,cache.l1,shared")
start_cluster 2 2

echo "--- without PMI no run starts, and one task says why with the line of the doctor"
srun --mpi=none --nodes=2 --ntasks=4 "$sonde" doctor "${options[@]:0:2}" >doctor.out 2>&1 && fail "a doctor that is well"
line=$(sed -nE 's/^.*warn +mpi\.pmi +//p' doctor.out | head -1)
# Open MPI 4 ends the process in MPI_Init (1); where each task is alone, sonde refuses (2).
srun --mpi=none --nodes=2 --ntasks=4 "$sonde" run "${options[@]}" -o alone.h5 >alone.out 2>&1 && fail "a run without PMI"
[[ -n $line && $(grep -cF -- "$line" alone.out) == 1 ]] || fail "not one task said '$line'"
[[ ! -e alone.h5 && ! -e alone.h5.parts ]] || fail "a refused run wrote something"
srun --mpi=pmix -n 1 "$sonde" run "${options[@]}" -o one.h5 >one.out 2>&1 || fail "srun -n 1 was refused"
job=$(sbatch --parsable --output=plain.out --nodes=2 --ntasks=4 --wrap "sonde run ${options[*]@Q} -o plain.h5")
wait_for_success "$job"

echo "--- an audit that runs through"
job=$(sbatch --parsable "${fleet[@]}" "$scripts/audit.sbatch" "${options[@]}")
wait_for_success "$job"
check_run_file "sonde-$job.h5" "n1 n1 n2 n2"
grep -q '</html>' "sonde-$job.html" || fail "no whole report"
[[ ! -e sonde-$job.h5.parts ]] || fail "the shards were left behind"

# run_as <script that changes names> <file>: on both nodes; its log is <file>.out.
run_as() {
  # shellcheck disable=SC2016  # the inner shell expands "$@"
  srun "${fleet[@]}" --mpi=pmix --kill-on-bad-exit=0 --cpu-bind=none unshare --uts bash -c "$1"' && exec "$@"' bash \
    sonde run "${options[@]}" -o "$2" 2>&1 | tee "$2.out"
}
echo "--- host names that are not Slurm's names: cloud machines, containers"
# shellcheck disable=SC2016  # the rank itself expands it
run_as 'hostname ip-10-0-3-$SLURM_PROCID' cloud.h5 || fail "cloud names"
check_run_file cloud.h5 "n1 n1 n2 n2"
! grep -q 'machines are called' cloud.h5.out || fail "a name is called shared"

echo "--- machines that share a name: a launcher passed its own environment on"
# Nodes of one name take each other's files in /tmp for their own, which they share here as no machines
# do: Open MPI 4 may crash at its start (seen once in ten runs). Then it is tried once more.
same=same.h5
run_as 'SLURMD_NODENAME=n1' "$same" || same=again.h5
[[ $same == same.h5 ]] || run_as 'SLURMD_NODENAME=n1' "$same" || fail "one name"
check_run_file "$same" "n1 n1 n1 n1"
[[ $(grep -c '2 machines are called n1' "$same.out") == 1 ]] || fail "no word of a shared name"

echo "--- an audit that comes near its time limit, is requeued and resumed"
# Slurm looks at time limits twice a minute: until then ranks and workers stand still; it wakes them to tell.
# More jobs: some are left when all stand still.
job=$(sbatch --parsable "${fleet[@]}" --time=2 --signal=USR1@115 "$scripts/audit.sbatch" "${options[@]:0:4}" \
  --jobs "clock,cache.l1,shared,control,arithmetic" --seed 4711)
wait_until 60 compgen -G "sonde-$job.h5.parts/*.part" >/dev/null || fail "job $job measures nothing"
pkill -STOP --full '^[^ ]*sonde run .*--seed 4711' || fail "no rank runs"
wait_until 60 is_in_state "$job" PENDING || fail "job $job was not put back into the queue"
[[ -d sonde-$job.h5.parts && ! -e sonde-$job.h5 ]] || fail "job $job kept no shards"
# Slurm makes a requeued job wait two minutes. A few seconds it needs: slurmd takes a credential
# from the second in which the last one was revoked for a replay.
scontrol update JobId="$job" TimeLimit=60 StartTime=now+4
wait_for_success "$job"
grep -q 'stopped early (status 75)' "sonde-$job.out" || fail "no word of the stop"
check_run_file "sonde-$job.h5" "n1 n1 n2 n2"

echo "--- node by node, then merged"
# A simulated die comes from the seed and the rank: both nodes have the same two, of which the
# merged file keeps one measurement each.
merge=$("$scripts/rolling.sh" gpu 2 -- "${options[@]}")
wait_for_success "$merge"
check_run_file "sonde-$((merge - 2)).h5" "n1 n1"
check_run_file "sonde-$((merge - 1)).h5" "n2 n2"
check_run_file sonde-gpu-*.h5 "n1 n1" "n2 n2"
grep -q '</html>' sonde-gpu-*.html || fail "no whole report of the merged run"
echo "passed"
