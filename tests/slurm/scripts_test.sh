#!/usr/bin/env bash
# scripts_test.sh <slurm folder>: the scripts for a site where Slurm, MPI and sonde are stubs: what they do if one of
# these fails. Needs no Slurm, no GPU and not root.
set -uo pipefail
scripts=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
  echo "FAILED: $1"
  failed=1
}

# --- a node: the scripts, and stubs that do what files in $work tell them
cp -r "$scripts" site
mkdir bin saved state metrics
cat >>site/site.env <<TEXT
sonde=$work/bin/sonde mpirun=$work/bin/mpirun state=$work/state textfiles=$work/metrics
epilog_limit_s=20 epilog_drains=yes
health_limit_s=20 health_drains=yes
TEXT
cp site/site.env good.env
cat >bin/mpirun <<'TEXT'
#!/usr/bin/env bash
shift 2 # -n <ranks>
for descriptor in /proc/$$/fd/*; do # Open MPI's closes what ranks would inherit
  ((${descriptor##*/} < 3 || ${descriptor##*/} == 255)) || eval "exec ${descriptor##*/}>&-"
done
"$@"
TEXT
cat >bin/sonde <<TEXT
#!/usr/bin/env bash
echo "\$*" >>$work/sonde.calls
out=\$(sed -n 's/.* -o \([^ ]*\).*/\1/p' <<<"\$*")
case \$1 in
  run | doctor)
    if [[ -e $work/hang ]]; then
      setsid sleep 30 & # of no session that the epilog can kill
      echo "\$!" >$work/hung.pid
      sleep 30
    fi ;;
  export) # of the GPUs that CUDA shows; without such a limit of all
    if [[ \$* == *--verdicts-only* ]]; then
      cat $work/verdicts.json
      exit
    fi
    shown=\${CUDA_VISIBLE_DEVICES:-}
    echo '# HELP sonde_device_verdict 0 pass'
    echo '# TYPE sonde_device_verdict gauge'
    grep -F "\${shown//,/\$'\n'}" $work/verdicts
    echo '# HELP sonde_last_run_timestamp_seconds start of the run'
    echo '# TYPE sonde_last_run_timestamp_seconds gauge'
    echo 'sonde_last_run_timestamp_seconds 1700000000'
    [[ \$* != *--baseline* || ! -e $work/slower ]] || echo 'sonde_device_verdict{UUID="GPU-1",Hostname="n"} 3'
    ;;
esac
[[ -z \$out ]] || echo "\$1" >"\$out"
[[ ! -e $work/\$1.status ]] || exit "\$(cat $work/\$1.status)"
TEXT
cat >bin/nvidia-smi <<TEXT
#!/usr/bin/env bash
[[ ! -e $work/smi.hangs ]] || sleep 30
cat $work/gpus
TEXT
cat >bin/srun <<'TEXT'
#!/usr/bin/env bash
mkdir -p "sonde-$SLURM_JOB_ID.h5.parts" # stopped early
exit 75
TEXT
cat >bin/scontrol <<TEXT
#!/usr/bin/env bash
echo "\$*" >>$work/scontrol.calls
[[ \$1 == update ]] || echo "NodeName=n CPUAlloc=0 State=\$(cat $work/node.state) Reason=none"
TEXT
cat >bin/sinfo <<TEXT
#!/usr/bin/env bash
case \$* in
  *%E*) echo reason ;;
  *) cat $work/nodes ;;
esac
TEXT
cat >bin/sbatch <<TEXT
#!/usr/bin/env bash
echo "\$*" >>$work/sbatch.calls
case \$* in
  *"--nodelist small "* | *merge.sbatch*refused*) echo 'sbatch: error: no' >&2; exit 1 ;;
esac
wc -l <$work/sbatch.calls
TEXT
chmod +x site/*.sbatch bin/*
all_well() {
  rm -rf state/* metrics/* ./*.status ./*.calls slower smi.hangs
  cp good.env site/site.env
  printf '%s, GPU-%s\n' 0 1 1 2 2 3 >gpus
  printf 'sonde_device_verdict{UUID="GPU-%s",Hostname="n"} 0\n' 1 2 3 >verdicts
}
# verdict <number of the GPU> <verdict of its next measurement>
verdict() { sed -i "s/\(UUID=\"GPU-$1\".*\) .*/\1 $2/" verdicts; }
not_measured_lately() { touch -d '7 hours ago' state/gpus/GPU-?; }
export PATH=$work/bin:$PATH SLURM_JOB_GPUS=0,1
# expect <status> <what> <command...>
expect() {
  local want=$1 what=$2 status
  shift 2
  "$@" >stdout 2>stderr
  status=$?
  ((status == want)) || fail "$what: status $status, not $want: $(cat stderr)"
}

# told <number of the GPU> <status, timestamp_seconds> <number> <when>
told() {
  grep -q "^sonde_epilog_$2{UUID=\"GPU-$1\",Hostname=\"$(uname -n)\"} $3" "metrics/sonde-GPU-$1.prom" ||
    fail "$4: GPU-$1 has not $2 $3: $(cat metrics/*)"
}

echo "--- the epilog: eight at once, with traces of one that was killed three hours ago"
eight_at_once() {
  local pids=() n pid drained
  touch -d '3 hours ago' state/lock.since
  for n in {1..8}; do
    site/epilog.sh 2>"stderr.$n" &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do wait "$pid" || drained=yes; done
  [[ -z ${drained:-} ]] || fail "$1: a healthy node is drained: $(cat stderr.* | head -n 1)"
}
all_well
mkdir state/gpus
for _ in {1..3}; do
  touch state/gpus/GPU-{1,2}
  eight_at_once "not due"
done
[[ ! -e sonde.calls ]] || fail "measured though it was not due"
not_measured_lately
eight_at_once "due"
[[ $(grep -c '^run' sonde.calls) == 1 ]] || fail "measured $(grep -c '^run' sonde.calls) times"

echo "--- the epilog: a rank that not even SIGKILL ends keeps the lock"
all_well
echo yes >hang
sed -i 's/epilog_limit_s=20/epilog_limit_s=2/' site/site.env
expect 1 "a measurement that does not end" site/epilog.sh
told 1 status 124 "a measurement that does not end"
rm hang state/gpus/*
cp good.env site/site.env
expect 0 "a measurement that has hung for a second" site/epilog.sh
[[ $(grep -c '^run' sonde.calls) == 1 ]] || fail "measured beside a rank that hangs"
touch -d '3 hours ago' state/lock.since
expect 1 "a measurement that has hung for hours" site/epilog.sh
grep -q 'GPU-2 has hung for 108.. s' stderr || fail "no word of the GPU that hangs: $(cat stderr)"
told 2 status 124 "a GPU that hangs"
kill "$(cat hung.pid)"
expect 0 "what hung is gone" site/epilog.sh
[[ $(grep -c '^run' sonde.calls) == 2 ]] || fail "not measured after what hung is gone"

echo "--- the epilog: a driver that does not list its GPUs"
all_well
touch smi.hangs
sed -i 's/epilog_limit_s=20/epilog_limit_s=2/' site/site.env
expect 1 "nvidia-smi hangs" site/epilog.sh
grep -q 'GPU driver does not list its GPUs within 2 s' stderr || fail "no word of the driver: $(cat stderr)"
rm smi.hangs
cp good.env site/site.env
expect 0 "nvidia-smi answers again" site/epilog.sh
[[ -z $(compgen -G 'metrics/*driver*') ]] || fail "the alarm of the driver stays"

echo "--- the epilog: a broken installation drains nothing"
all_well
for broken in "rm site/site.env" "truncate -s 400 site/site.env" "sed -i s/state=[^[:blank:]]*// site/site.env" \
  "sed -i s/epilog_limit_s=[^[:blank:]]*// site/site.env" "rm site/node_check.sh" \
  "rm site/gpu_records.sh" "truncate -s 2000 site/gpu_records.sh" "rm bin/nvidia-smi" \
  "truncate -s 1000 site/node_check.sh" "rm site/measure_node.sh" \
  "rm bin/mpirun" "rm bin/sonde" "mkdir state/lock" "mkdir state/door" "mkdir state/epilog.log"; do
  cp -r site bin saved/
  $broken || fail "$broken"
  touch -d '3 hours ago' state/lock.since
  expect 0 "$broken" site/epilog.sh
  rm -rf site bin state/*
  cp -r saved/. .
done
for lines in {6..84..6}; do
  head -n "$lines" site/epilog.sh >site/half.sh
  expect 0 "the first $lines lines of the epilog" bash site/half.sh
  rm -rf state/*
done

echo "--- the epilog: what it publishes"
all_well
expect 0 "a good node" site/epilog.sh
for gpu in 1 2; do
  for series in "sonde_device_verdict{UUID=\"GPU-$gpu\",Hostname=\"n\"} 0" \
    "sonde_last_run_timestamp_seconds{UUID=\"GPU-$gpu\",Hostname=\"n\"} 1700000000"; do
    grep -qxF "$series" "metrics/sonde-GPU-$gpu.prom" || fail "no $series: $(cat metrics/*)"
  done
  told "$gpu" status 0 "a good node"
  told "$gpu" timestamp_seconds "$(date +%s | cut -c1-7)" "a good node"
done
[[ $(cat metrics/*.prom | grep -v '^#' | cut -d' ' -f1 | sort | uniq -d) == "" ]] || fail "a series stands twice"
[[ $(cat metrics/*.prom | grep '^#' | sort | uniq -c | grep -vc '^ *2 ') == 0 ]] || fail "heads differ: $(cat metrics/*)"
for broken in run.status export.status; do
  all_well
  echo 1 >"$broken"
  expect 0 "$broken 1" site/epilog.sh
  grep -q sonde_device metrics/* && fail "$broken 1: half a file is published"
  told 1 status 1 "$broken 1"
done
all_well
mkdir metrics/sonde-GPU-1.prom # cannot be replaced
expect 0 "metrics that cannot be written" site/epilog.sh
[[ $(find metrics -name '.*' -type f) == "" ]] || fail "a temporary file is left: $(ls -A metrics)"
rm -r metrics/sonde-GPU-1.prom

echo "--- the epilog: what one job found of a GPU outlives jobs on other GPUs"
bad_is_told() {
  grep -q '^sonde_device_verdict{UUID="GPU-1".*} 3$' metrics/sonde-GPU-1.prom || fail "$1: the alarm of GPU-1 is gone"
  told 1 status 4 "$1"
}
all_well
verdict 1 3
SLURM_JOB_GPUS=0 expect 1 "a job on GPU-1, which is bad" site/epilog.sh
bad_is_told "a bad GPU"
SLURM_JOB_GPUS=1 expect 1 "a job on GPU-2, which is well" site/epilog.sh
grep -q 'GPU-1 failed its verdict' stderr || fail "no word of the GPU that is bad: $(cat stderr)"
[[ $(grep -c '^run' sonde.calls) == 2 ]] || fail "GPU-2 was not measured since GPU-1 was"
bad_is_told "another GPU is well"
told 2 status 0 "another GPU is well"
SLURM_JOB_GPUS=1 expect 1 "GPU-2, which is not due" site/epilog.sh
[[ $(grep -c '^run' sonde.calls) == 2 ]] || fail "GPU-2 was measured twice"
for status in 2 1; do # bad usage, an error: nothing was found out
  echo "$status" >run.status
  expect 1 "GPU-1 cannot be measured" site/epilog.sh
  bad_is_told "it could not be measured again"
  rm run.status
done
verdict 1 2
expect 1 "GPU-1 is incomplete: another process was there" site/epilog.sh
bad_is_told "an incomplete measurement"
verdict 1 0
SLURM_JOB_GPUS=0 expect 0 "GPU-1 is measured again, and well" site/epilog.sh
told 1 status 0 "well again"
grep -q '^sonde_device_verdict{UUID="GPU-1".*} 0$' metrics/sonde-GPU-1.prom || fail "GPU-1 still has its alarm"

echo "--- the epilog: incomplete by contention is no failure"
all_well
verdict 1 2
echo 3 >run.status
expect 0 "another process computes on GPU-1" site/epilog.sh
told 1 status 3 "another process computes on GPU-1"
told 2 status 0 "another process computes on GPU-1"

echo "--- the epilog: GPUs by UUID, however CUDA counts"
all_well
printf '%s, GPU-%s\n' 0 3 1 1 2 2 >gpus # as nvidia-smi does
verdict 3 3
SLURM_JOB_GPUS=0 expect 1 "index 0 is GPU-3" site/epilog.sh
[[ -e metrics/sonde-GPU-3.prom && ! -e metrics/sonde-GPU-1.prom ]] || fail "another GPU was measured: $(ls metrics)"

echo "--- the epilog: a GPU that is gone, and one that was replaced"
all_well
expect 0 "a good node" site/epilog.sh
sed -i /GPU-2/d gpus
SLURM_JOB_GPUS=1 expect 1 "the driver does not list GPU-2" site/epilog.sh
grep -q 'GPU-2 is gone: the driver does not list it' stderr || fail "no word of the GPU that is gone: $(cat stderr)"
told 2 status 4 "a GPU that is gone"
SLURM_JOB_GPUS=0 expect 1 "a job on another GPU" site/epilog.sh
told 2 status 4 "a GPU that is still gone"
echo '1, GPU-4' >>gpus
SLURM_JOB_GPUS=0 expect 0 "GPU-2 was replaced by GPU-4" site/epilog.sh
[[ -z $(compgen -G 'metrics/*GPU-2*') && -z $(compgen -G 'state/gpus/GPU-2*') ]] || fail "GPU-2 is not forgotten"
all_well
sed -i /GPU-2/d verdicts
SLURM_JOB_GPUS=0,1,2 expect 1 "CUDA does not show GPU-2, and so not GPU-3" site/epilog.sh
grep -q 'GPU-2 is gone: CUDA does not show it' stderr || fail "no word of the GPU that is gone: $(cat stderr)"
[[ ! -e state/gpus/GPU-3.bad ]] || fail "GPU-3 is blamed"
sed -i s/epilog_drains=yes/epilog_drains=no/ site/site.env
expect 0 "a GPU is gone, which is not to drain" site/epilog.sh

echo "--- the health check: sick, hung, broken; a node that is drained already"
healthy() {
  grep -q "^sonde_doctor_healthy{.*} $1$" metrics/sonde_doctor.prom || fail "$2: $(cat metrics/sonde_doctor.prom)"
}
all_well
expect 0 "a healthy node" site/health_check.sh
healthy 1 "a healthy node"
echo 127 >doctor.status
expect 0 "a doctor that cannot be run" site/health_check.sh
healthy 0 "a doctor that cannot be run"
rm doctor.status
expect 0 "a healthy node" site/health_check.sh
echo 3 >doctor.status
expect 1 "a sick node" site/health_check.sh
[[ ! -e scontrol.calls ]] || fail "drained at the first failure"
for now in IDLE+DRAIN DRAINED DOWN*+DRAIN; do
  echo "$now" >node.state
  expect 1 "a sick node" site/health_check.sh
done
grep -q ^update scontrol.calls && fail "drained again, with another reason"
echo IDLE >node.state
expect 1 "a sick node" site/health_check.sh
grep -q '^update nodename=.* state=drain reason=sonde doctor' scontrol.calls || fail "not drained"
healthy 0 "a sick node"

all_well
echo yes >hang
sed -i 's/health_limit_s=20/health_limit_s=1/' site/site.env
expect 1 "a doctor that hangs" site/health_check.sh
touch -d '15 minutes ago' state/health.since
expect 1 "a doctor that has hung since the last check" site/health_check.sh
[[ $(grep -c ^doctor sonde.calls) == 1 ]] || fail "a second doctor beside one that hangs"
grep -q ^update scontrol.calls || fail "a node whose doctor hangs is not drained"
kill "$(cat hung.pid)"
rm hang
cp good.env site/site.env
expect 0 "what hung is gone" site/health_check.sh
healthy 1 "what hung is gone"

echo "--- drain.py: failed, lost and missing GPUs alone, from the short export"
all_well
for gpu in "n1 fail clock" "n2 incomplete contention" "n3 lost lost" "n4 warn memory" "n5 pass none"; do
  read -r node result likely <<<"$gpu"
  printf '{"uuid": "GPU-%s", "node": "%s", "verdict": "%s", "likely": "%s", "reason": "r", "pci_bus_id": "1"}\n' \
    "$node" "$node" "$result" "$likely"
done | jq -s '{devices: ., flags: [
  {uuid: null, node: "n6", severity: "fail", undecided: false, reason: "7 GPUs where most have 8"},
  {uuid: null, node: "n7", severity: "warn", undecided: false, reason: "r"},
  {uuid: null, node: "n8", severity: "fail", undecided: true, reason: "r"},
  {uuid: "GPU-n2", node: "n2", severity: "fail", undecided: false, reason: "r"}]}' \
  >verdicts.json
expect 0 "drain.py" site/drain.py run.h5 --dry-run --baseline old.h5
[[ $(grep -o 'nodename=[^ ]*' stdout | xargs) == "nodename=n1 nodename=n3 nodename=n6" ]] ||
  fail "it drains others: $(cat stdout)"
grep -q -- '--baseline old.h5' sonde.calls || fail "it does not compare with the baseline"
grep -q -- '--verdicts-only' sonde.calls || fail "it reads all findings"

echo "--- merge.sbatch and audit.sbatch: a GPU failed, or was lost"
for status in 3 4; do
  all_well
  echo "$status" | tee merge.status >analyze.status
  touch sonde-7.h5
  expect "$status" "a merge" site/merge.sbatch night 7
  [[ $(cat night.html) == report && -s night.prom ]] || fail "merge.sbatch: no page or no metrics"
  rm -r night.* sonde-7.h5
  SLURM_JOB_ID=8 SLURM_RESTART_COUNT=3 expect "$status" "an audit that was stopped thrice" site/audit.sbatch
  [[ $(cat sonde-8.html) == report ]] || fail "audit.sbatch: no page"
  rm -r sonde-8.*
done
all_well
echo 1 >merge.status
touch sonde-7.h5
expect 1 "a merge that fails" site/merge.sbatch night 7
[[ ! -e night.html ]] || fail "a page of nothing"
rm sonde-7.h5

echo "--- merge.sbatch: what a sweep that was stopped has left counts"
all_well
mkdir -p sonde-7.h5.parts/0123abcd sonde-8.h5.parts
touch sonde-7.h5.parts/0123abcd/GPU-1.h5.part
expect 0 "shards of a sweep" site/merge.sbatch night 7 8
grep -q '^merge .*sonde-7.h5.parts -o' sonde.calls || fail "shards of a sweep are not merged: $(cat stdout)"
grep -q 'job 8 measured nothing' stdout || fail "an empty folder counts: $(cat stdout)"

echo "--- baselines: what failed against the present one does not become the next one"
all_well
touch run.h5 slower
expect 0 "the first baseline" site/rotate_baseline.sh run.h5 baselines
first=$(readlink baselines/baseline.h5)
sleep 1
expect 0 "a run that got slower" site/rotate_baseline.sh run.h5 baselines
[[ $(readlink baselines/baseline.h5) == "$first" ]] || fail "a run that got slower became the baseline"
grep -q 'the baseline stays' stderr || fail "no word of the baseline: $(cat stderr)"
rm slower
expect 0 "a good run" site/rotate_baseline.sh run.h5 baselines
[[ $(readlink baselines/baseline.h5) != "$first" ]] || fail "a good run did not become the baseline"

echo "--- rolling.sh: nodes that do not count, and an sbatch that is refused"
all_well
printf '%s\n' 'good1 idle' 'small idle' 'off idle~' 'going idle%' 'soon idle!' 'boot idle@' 'booting idle^' \
  'kept idle$' 'gone mixed*' 'drained1 drained' 'good2 allocated' 'up idle#' >nodes
expect 0 "rolling.sh" \
  site/rolling.sh gpu 4 --account=a1 -q high --time 5 --reservation r1 --deadline=now+1hour -- --suite quick
tried=$(grep -o -- '--nodelist [a-z0-9]*' sbatch.calls | cut -d' ' -f2 | sort -u | xargs)
[[ $tried == "good1 good2 small up" ]] ||
  fail "other nodes were tried: $(cat sbatch.calls)"
[[ $(grep -c 'is left out' stderr) == 9 ]] || fail "not nine were left out: $(cat stderr)"
grep -q 'small is left out: sbatch refused it' stderr || fail "no word of the refused node: $(cat stderr)"
tail -n 1 sbatch.calls | grep -q -- '--account=a1 -q high --reservation r1 .*merge.sbatch sonde-gpu-[0-9]* 1 2 4$' ||
  fail "the merge: $(tail -n 1 sbatch.calls)"
tail -n 1 sbatch.calls | grep -qE -- '--time|--deadline' && fail "the merge has the limits of the others"
echo 'small idle' >nodes
expect 1 "no node was taken" site/rolling.sh gpu 4
grep -q 'no job was submitted' stderr || fail "no clear word: $(cat stderr)"
echo 'good idle' >nodes
expect 1 "the merge is refused" site/rolling.sh refused 4
grep -q 'merge.sbatch sonde-refused-[0-9]* [0-9]' stderr || fail "no word of the merge: $(cat stderr)"

echo "--- nightly.scrontab: has sonde on PATH, and an hour to submit"
grep -q '^0 1 .* PATH=/opt/sonde/bin:[$]PATH ' site/nightly.scrontab || fail "nightly.scrontab: no PATH"
grep -q '^#SCRON --time=01:00:00$' site/nightly.scrontab || fail "nightly.scrontab: --time"

exit "$failed"
