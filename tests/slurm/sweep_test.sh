#!/usr/bin/env bash
# sweep_test.sh <sonde> <slurm folder>: a night of 1,000 points as an array of four tasks, on a Slurm
# of four nodes on this machine. Two nodes are lost in between: their tasks are requeued, go on where
# they were on the nodes that are left, and the merged file has every point.
set -euo pipefail
# shellcheck source=cluster.sh
. "$(dirname "$0")/cluster.sh"
start_cluster 4 1
options=(--backend sim:gtx980 --suite quick --jobs chase --sweep "chase.footprint_bytes=1KiB:250KiB:1KiB")

array=$(sbatch --parsable --array=1-4 --nodes=1 --ntasks-per-node=1 --gpus-per-node=1 "$scripts/audit.sbatch" "${options[@]}")
# squeue gives the tasks that are pending the number of the array.
task_job() { scontrol --oneliner show job "${array}_$1" | grep -o '^JobId=[0-9]*' | cut -d= -f2; }
node_of() { scontrol --oneliner show job "${array}_$1" | grep -o ' NodeList=n[0-9]*' | cut -d= -f2; }
shards_of() { find "sonde-$(task_job "$1").h5.parts" -name '*.h5' 2>/dev/null | wc -l; }
has_begun() { (($(shards_of "$1") > 2)); }
for task in 1 2 3 4; do wait_until 60 has_begun "$task" || fail "task $task measures nothing"; done

lost=("$(node_of 1)" "$(node_of 2)")
echo "--- ${lost[*]} are lost, with $(shards_of 1) and $(shards_of 2) points measured"
for node in "${lost[@]}"; do "$scripts/onehost.sh" kill "$work/cluster" "$node"; done
for task in 1 2; do # and all that ran there
  job=$(task_job "$task")
  for process in "slurmstepd: \[$job\." "job0*$job/slurm_script" "sonde run .*-o sonde-$job\.h5"; do
    pkill -KILL --full "$process" || true
  done
done
scontrol update NodeName="$(IFS=, && echo "${lost[*]}")" State=DOWN Reason=test
# Slurm makes a requeued job wait two minutes.
has_restarted() {
  is_in_state "$1" 'RUNNING|COMPLETED' && return
  scontrol update JobId="$1" StartTime=now 2>/dev/null || true
  return 1
}
for task in 1 2; do wait_until 90 has_restarted "${array}_$task" || fail "task $task does not go on: $(squeue)"; done
# A step that begins too early after the loss may be refused; then the task goes back into the queue once more.
has_ended() { has_restarted "$1" && is_in_state "$1" COMPLETED; }
for task in 1 2; do wait_until 150 has_ended "${array}_$task" || fail "task $task does not end: $(squeue)"; done
for task in 1 2 3 4; do wait_for_success "${array}_$task" 100; done
for task in 1 2; do
  [[ " ${lost[*]} " != *" $(node_of "$task") "* ]] || fail "task $task ran on a lost node again"
done

files=()
for task in 1 2 3 4; do files+=("sonde-$(task_job "$task").h5"); done
"$sonde" merge "${files[@]}" -o night.h5 >merge.out 2>&1 || fail "no merged file"
"$sonde" export night.h5 --format json >"$work/run.json" || fail "cannot export night.h5"
python3 - "$work/run.json" <<'PYTHON' || fail "night.h5 does not hold the night"
import json, sys
run = json.load(open(sys.argv[1]))
print(len(run["points"]), len(run["devices"]), run["counts"])
assert len(run["points"]) == 1000
assert len(run["devices"]) == 1000 and len({one["uuid"] for one in run["devices"]}) == 4
assert all(one["status"] == "complete" for one in run["devices"])
PYTHON
grep -q 'OVER THE SWEEP' merge.out || fail "no answer"
echo "passed"
