#!/usr/bin/env bash
# slurm_test.sh <sonde> <slurm folder>: submits audit.sbatch to a Slurm of two nodes on this machine.
# First an audit that runs through; then one that is told to stop, requeues itself and resumes.
set -euo pipefail
sonde=$(readlink -f "$1")
scripts=$(readlink -f "$2")
fleet=(--nodes=2 --ntasks-per-node=2 --gpus-per-node=2)
options=(--backend sim:gtx980 --suite quick --jobs "clock,cache.l1,shared,global.throughput")
# Its second job takes some seconds: time to be stopped in, with a third one still to come.
long_options=(--backend sim:gtx980 --jobs "clock,tlb,shared")

skip() {
  echo "skipped: $1"
  exit 77
}
((EUID == 0)) || skip "needs root"
for command in slurmctld slurmd munged srun; do
  command -v "$command" >/dev/null || skip "$command is not installed"
done
unshare --mount --uts --propagation private true 2>/dev/null || skip "may not make namespaces"

work=$(mktemp -d)
chmod 755 "$work" # munged runs as its own user
cleanup() {
  "$scripts/onehost.sh" down "$work/cluster"
  rm -rf "$work"
}
trap cleanup EXIT
fail() {
  echo "FAILED: $1"
  tail -n 40 "$work"/*.out "$work"/cluster/log/*.log || true
  exit 1
}

# wait_until <seconds> <command...>
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}
job_state() { scontrol --oneliner show job "$1" | grep -o 'JobState=[A-Z]*' | cut -d= -f2; }
is_in_state() { [[ $(job_state "$1") =~ ^($2)$ ]]; }
exit_code_of() { scontrol --oneliner show job "$1" | grep -o ' ExitCode=[0-9]*' | cut -d= -f2; }
wait_for_success() {
  wait_until 100 is_in_state "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT' || fail "job $1 hangs"
  [[ $(exit_code_of "$1") == 0 ]] || fail "job $1 ended with $(exit_code_of "$1")"
}
has_a_measured_job() { grep -qs '"jobs_done": *[1-9]' "$1"/*.json; }

# check_run_file <file> <nodes of the devices, or other nodes...>: all complete, none twice.
check_run_file() {
  "$sonde" export "$1" --format json >"$work/run.json" || fail "cannot export $1"
  python3 - "$work/run.json" "${@:2}" <<'PYTHON' || fail "$1 does not hold the fleet"
import json, sys
devices = json.load(open(sys.argv[1]))["devices"]
print([(d["node"], d["rank"], d["uuid"], d["status"]) for d in devices])
assert " ".join(sorted(d["node"] for d in devices)) in sys.argv[2:]
assert len({d["uuid"] for d in devices}) == len(devices)
assert all(d["status"] == "complete" and d["findings"] for d in devices)
PYTHON
}

"$scripts/onehost.sh" up "$work/cluster" || fail "no Slurm"
eval "$("$scripts/onehost.sh" env "$work/cluster")"
PATH=$(dirname "$sonde"):$PATH
cd "$work"

echo "--- an audit that runs through"
job=$(sbatch --parsable "${fleet[@]}" "$scripts/audit.sbatch" "${options[@]}")
wait_for_success "$job"
check_run_file "sonde-$job.h5" "n1 n1 n2 n2"
grep -q '</html>' "sonde-$job.html" || fail "no whole report"
[[ ! -e sonde-$job.h5.parts ]] || fail "the shards were left behind"

echo "--- an audit that is stopped, requeued and resumed"
job=$(sbatch --parsable "${fleet[@]}" "$scripts/audit.sbatch" "${long_options[@]}")
wait_until 60 has_a_measured_job "sonde-$job.h5.parts" || fail "job $job measured nothing"
scancel --signal=USR1 "$job"
wait_until 60 is_in_state "$job" PENDING || fail "job $job was not put back into the queue"
[[ -d sonde-$job.h5.parts && ! -e sonde-$job.h5 ]] || fail "job $job kept no shards"
# Slurm makes a requeued job wait two minutes. A few seconds it needs: slurmd takes a credential
# from the second in which the last one was revoked for a replay.
scontrol update JobId="$job" StartTime=now+4
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
