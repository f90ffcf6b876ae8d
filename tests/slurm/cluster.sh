# shellcheck shell=bash
# What the tests on a real Slurm share; they read it with <sonde> and <slurm folder> as arguments. It defines sonde,
# scripts and work, and ends with 77 where Slurm cannot be started.
set -euo pipefail
sonde=$(readlink -f "$1")
scripts=$(readlink -f "$2")

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
  tail -n 40 "$work"/*.out "$work"/state/*/*.log "$work"/cluster/log/*.log || true
  exit 1
}

# start_cluster [nodes] [GPUs per node] [file of lines for slurm.conf]: and goes to $work.
start_cluster() {
  "$scripts/onehost.sh" up "$work/cluster" "$@" || fail "no Slurm"
  eval "$("$scripts/onehost.sh" env "$work/cluster")"
  PATH=$(dirname "$sonde"):$PATH
  cd "$work"
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
job_state() { scontrol --oneliner show job "$1" | grep -o 'JobState=[A-Z_]*' | cut -d= -f2; }
is_in_state() { [[ $(job_state "$1") =~ ^($2)$ ]]; }
exit_code_of() { scontrol --oneliner show job "$1" | grep -o ' ExitCode=[0-9]*' | cut -d= -f2; }
# wait_for_success <job> [seconds]
wait_for_success() {
  wait_until "${2:-100}" is_in_state "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT' || fail "job $1 hangs"
  [[ $(exit_code_of "$1") == 0 ]] || fail "job $1 ended with $(exit_code_of "$1")"
}

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
