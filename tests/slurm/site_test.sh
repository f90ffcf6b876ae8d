#!/usr/bin/env bash
# site_test.sh <sonde> <slurm folder>: the scripts for a site on a Slurm of three nodes with four GPUs each: epilog,
# health check, an audit node by node past failed nodes, draining, baselines. Node n2 has a slow SM, n3 hangs.
set -euo pipefail
# shellcheck source=cluster.sh
. "$(dirname "$0")/cluster.sh"

# --- a site: its own copy of the scripts, and a sonde that knows which GPUs a node has
cp -r "$scripts" "$work/site"
mkdir "$work/state" "$work/metrics"
one=fermi_dac16 # the least work
good=sim:$one bad=sim:$one,$one,$one,$one+slow_sm=5:20
cat >"$work/site/sonde" <<TEXT
#!/usr/bin/env bash
case \$1-\$(uname -n) in
  run-n1) set -- "\$@" --backend $good ;;
  run-n2) set -- "\$@" --backend $bad ;;
  run-n3) echo 'sonde: 04:00:00Z 2 of 32 device jobs done'; sleep 120 ;;
  doctor-n1) [[ ! -e $work/sick ]] || { echo 'fail     driver    does not answer'; exit 3; } ;;
esac
exec $sonde "\$@"
TEXT
chmod +x "$work/site/sonde"
# "rank 0 on n1: GPU-..." as nvidia-smi tells it
list_gpus() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 4 \
    "$sonde" run --backend "$1" --dry-run | sed -n 's/^rank \([0-3]\) .*: \(GPU-.*\)/\1, \2/p'
}
list_gpus $good | tee "$work/gpus.n3" >"$work/gpus.n1"
list_gpus $bad >"$work/gpus.n2"
[[ $(cat "$work"/gpus.n? | wc -l) == 12 ]] || { echo "FAILED: no list of GPUs"; exit 1; }
cat >>"$work/site/site.env" <<TEXT
sonde=$work/site/sonde mpirun=$(command -v mpirun)
list_gpus=(cat $work/gpus.\$(uname -n))
state=$work/state/\$(uname -n) textfiles=$work/metrics/\$(uname -n)
epilog_limit_s=110 epilog_drains=yes
health_drains=yes doctor_options=(--suite quick --backend $good)
mpi_environment=(OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo)
export SLURM_CONF=$work/cluster/etc/slurm.conf
[[ \$(uname -n) != n3 ]] || epilog_limit_s=5
mkdir -p \$textfiles
TEXT
printf 'suite = "quick"\njobs = ["placement"]\n' >"$work/site/site.toml"
cat >"$work/slurm.lines" <<TEXT
Epilog=$work/site/epilog.sh
PrologEpilogTimeout=150
HealthCheckProgram=$work/site/health_check.sh
HealthCheckInterval=4
HealthCheckNodeState=IDLE
TEXT

state_of() { sinfo --noheader --nodes "$1" --format %T | head -n 1; }
node_is() { [[ $(state_of "$1") =~ ^($2)$ ]]; }
series() { grep -c "^$1{" "$2" 2>/dev/null || true; }
has_verdicts() { [[ $(cat "$work/metrics/$1"/sonde-GPU-*.prom 2>/dev/null | grep -c '^sonde_device_verdict{') == "$2" ]]; }
start_cluster 3 4 "$work/slurm.lines"

echo "--- the epilog: a good node, one with a bad GPU, one that hangs"
for node in n1 n2 n3; do
  sbatch --parsable --nodelist "$node" --gpus-per-node 4 --output /dev/null --wrap true >"$work/job.$node"
done
begin=$SECONDS
wait_until 40 node_is n3 'drained|draining' || fail "the node that hangs was not drained: $(state_of n3)"
((SECONDS - begin < 40)) || fail "the epilog did not keep its limit: $((SECONDS - begin)) s"
pgrep --full "^sleep 120$" >/dev/null && fail "what hung was left running"
grep -q 'within 5 s, last it said: 04:00:00Z 2 of 32' "$work/cluster/log/slurmd.n3.log" || fail "no word of how far it came"
wait_until 120 node_is n2 'drained|draining' || fail "the node with a bad GPU was not drained"
wait_until 120 has_verdicts n1 4 ||
  fail "the good node was not measured: $(ls "$work/metrics/n1")"
wait_until 20 node_is n1 idle || fail "the good node is $(state_of n1)"
bad_gpu=$(sed -n 's/^3, //p' "$work/gpus.n2")
grep -q "^sonde_device_verdict{UUID=\"$bad_gpu\",Hostname=\"n2\"} 3$" "$work/metrics/n2/sonde-$bad_gpu.prom" ||
  fail "no bad GPU"
[[ $(cd "$work/state/n2/gpus" && echo ./*.bad) == ./$bad_gpu.bad ]] || fail "others are bad, too"
check_run_file "$work/state/n1/run.h5" "n1 n1 n1 n1"

echo "--- it measures a node now and then, and a broken installation drains nothing"
measured=$(stat -c %Y "$work/state/n1/run.h5")
SLURM_JOB_GPUS=0,1,2,3 unshare --uts bash -c "hostname n1; $work/site/epilog.sh" || fail "the second epilog"
[[ $(stat -c %Y "$work/state/n1/run.h5") == "$measured" ]] || fail "measured again at once"
rm "$work"/state/n1/gpus/GPU-*
unshare --uts bash -c "hostname n1; sed -i 's/placement/no_such_job/' $work/site/site.toml
  SLURM_JOB_GPUS=0,1,2,3 $work/site/epilog.sh" 2>"$work/epilog.out" || fail "a broken installation drains"
grep -q ': status 2 (see' "$work/epilog.out" || fail "no word of the broken installation"

echo "--- the health check: a sick node is drained at its second failure"
wait_until 30 grep -qs 'healthy{Hostname="n1"} 1' "$work/metrics/n1/sonde_doctor.prom" || fail "no health check"
touch "$work/sick"
wait_until 60 node_is n1 drained || fail "the sick node is $(state_of n1)"
sinfo --noheader --nodes n1 --format %E | grep -q 'sonde doctor: fail driver' || fail "no reason"
rm "$work/sick"
scontrol update nodename=n1,n3 state=resume

echo "--- node by node: n2 is drained and left out, n3 fails while its job waits"
export SONDE_BASELINES=$work/baselines
options=(--backend "$good" --suite quick --jobs clock)
busy=$(sbatch --parsable --nodelist n3 --exclusive --output /dev/null --wrap "sleep 60")
wait_until 20 is_in_state "$busy" RUNNING || fail "n3 takes no job"
merge=$(site/rolling.sh gpu 4 --time=1 --deadline=now+75seconds -- "${options[@]}" 2>"$work/rolling.out")
grep -q 'n2 is left out: drained Epilog error' "$work/rolling.out" || fail "n2 was not left out"
site/onehost.sh kill "$work/cluster" n3
wait_until 140 is_in_state "$merge" 'COMPLETED|FAILED' || fail "the merge waits for a dead node: $(squeue)"
[[ $(exit_code_of "$merge") == 0 ]] || fail "the merge ended with $(exit_code_of "$merge")"
is_in_state "$((merge - 1))" DEADLINE || fail "the job of n3 is $(job_state "$((merge - 1))")"
grep -q "job $((merge - 1)) measured nothing" sonde-merge-*.out || fail "no word of n3"
check_run_file sonde-gpu-*.h5 "n1 n1 n1 n1"
[[ $(series sonde_device_info sonde-gpu-*.prom) == 4 && -s $(echo sonde-gpu-*.html) ]] || fail "no report"

echo "--- baselines: a bad run becomes none, two are kept, the reference stays"
cmp "$work/baselines/baseline.h5" "$work/baselines/reference.h5" || fail "no first baseline"
first=$(readlink "$work/baselines/baseline.h5")
site/rotate_baseline.sh "$work/state/n2/run.h5" "$work/baselines"
[[ $(readlink "$work/baselines/baseline.h5") == "$first" ]] || fail "a bad run became the baseline"
for _ in 1 2; do
  sleep 1
  site/rotate_baseline.sh sonde-gpu-*.h5 "$work/baselines" 2
done
[[ $(find "$work/baselines" -name 'baseline-*.h5' | wc -l) == 2 ]] || fail "not two baselines"
[[ ! -e $work/baselines/$first && -e $work/baselines/reference.h5 ]] || fail "the wrong one was removed"

echo "--- the drain helper asks"
scontrol update nodename=n2 state=resume
wait_until 20 node_is n2 idle || fail "n2 is $(state_of n2)"
bad=$work/state/n2/run.h5
if site/drain.py "$bad" </dev/null; then fail "it drains without being told to"; fi
echo n | site/drain.py "$bad" || fail "no"
node_is n2 idle || fail "drained against the answer"
if echo y | site/drain.py "$bad" --most 0; then fail "it asks for more than --most"; fi
echo y | site/drain.py "$bad" || fail "yes"
wait_until 10 node_is n2 drained || fail "not drained"
sinfo --noheader --nodes n2 --format %E | grep -q '^sonde: GPU-.* fail ' || fail "no reason"
site/drain.py "$bad" | grep -q 'n2 is drained already' || fail "it asks again"

echo "--- the examples can be read"
"$sonde" run --config "$scripts/site.toml" --backend "$good" --dry-run >/dev/null || fail "site.toml"
bash -n "$scripts/site.env" || fail "site.env"
read -r minute hour day month weekday variable path script rest < <(grep -v '^#' "$scripts/nightly.scrontab")
[[ "$minute $hour $day $month $weekday" == "0 1 * * *" && "$variable $path" == SONDE_BASELINES=*' PATH='* ]] ||
  fail "scrontab: times"
[[ -x $scripts/$(basename "$script") ]] || fail "scrontab: $script"
# shellcheck disable=SC2086 # options, word by word
"$sonde" run ${rest##*site.toml} --backend "$good" --dry-run >/dev/null || fail "scrontab: options"
echo "passed"
