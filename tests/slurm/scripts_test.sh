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
  export)
    cat $work/verdicts
    [[ \$* != *--baseline* || ! -e $work/slower ]] || echo 'sonde_device_verdict{UUID="GPU-1",Hostname="n"} 3'
    ;;
esac
[[ -z \$out ]] || echo "\$1" >"\$out"
[[ ! -e $work/\$1.status ]] || exit "\$(cat $work/\$1.status)"
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
  rm -rf state/* metrics/* ./*.status ./*.calls slower
  cp good.env site/site.env
  printf 'sonde_device_verdict{UUID="GPU-%s",Hostname="n"} 0\n' 1 2 >verdicts
}
export PATH=$work/bin:$PATH SLURM_JOB_GPUS=0,1
# expect <status> <what> <command...>
expect() {
  local want=$1 what=$2 status
  shift 2
  "$@" >stdout 2>stderr
  status=$?
  ((status == want)) || fail "$what: status $status, not $want: $(cat stderr)"
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
for _ in {1..3}; do
  touch state/measured
  eight_at_once "not due"
done
[[ ! -e sonde.calls ]] || fail "measured though it was not due"
touch -d '7 hours ago' state/measured
eight_at_once "due"
[[ $(grep -c '^run' sonde.calls) == 1 ]] || fail "measured $(grep -c '^run' sonde.calls) times"

echo "--- the epilog: a rank that not even SIGKILL ends keeps the lock"
all_well
echo yes >hang
sed -i 's/epilog_limit_s=20/epilog_limit_s=1/' site/site.env
expect 1 "a measurement that does not end" site/epilog.sh
grep -q '^sonde_epilog_status{.*} 124$' metrics/sonde_epilog.prom || fail "no metric of what does not end"
rm hang state/measured
cp good.env site/site.env
expect 0 "a measurement that has hung for a second" site/epilog.sh
[[ $(grep -c '^run' sonde.calls) == 1 ]] || fail "measured beside a rank that hangs"
touch -d '3 hours ago' state/lock.since
expect 1 "a measurement that has hung for hours" site/epilog.sh
grep -q 'a GPU has hung for 108.. s' stderr || fail "no word of the GPU that hangs: $(cat stderr)"
kill "$(cat hung.pid)"
expect 0 "what hung is gone" site/epilog.sh
[[ $(grep -c '^run' sonde.calls) == 2 ]] || fail "not measured after what hung is gone"
echo "--- the epilog: a broken installation drains nothing"
all_well
for broken in "rm site/site.env" "truncate -s 400 site/site.env" "sed -i s/state=[^[:blank:]]*// site/site.env" \
  "sed -i s/epilog_limit_s=[^[:blank:]]*// site/site.env" "rm site/node_check.sh" \
  "truncate -s 1000 site/node_check.sh" "rm site/measure_node.sh" \
  "rm bin/mpirun" "rm bin/sonde" "mkdir state/lock" "mkdir state/door" "mkdir state/epilog.log"; do
  cp -r site bin saved/
  $broken || fail "$broken"
  touch -d '3 hours ago' state/lock.since
  expect 0 "$broken" site/epilog.sh
  rm -rf site bin state/*
  cp -r saved/. .
done
for lines in {6..60..6}; do
  head -n "$lines" site/epilog.sh >site/half.sh
  expect 0 "the first $lines lines of the epilog" bash site/half.sh
  rm -rf state/*
done

echo "--- the epilog: what it publishes"
# told <status, timestamp_seconds> <number> <when>
told() {
  grep -q "^sonde_epilog_$1{Hostname=\"$(uname -n)\"} $2" metrics/sonde_epilog.prom || fail "$3: $(cat metrics/*)"
}
all_well
expect 0 "a good node" site/epilog.sh
cmp verdicts metrics/sonde.prom || fail "no metrics"
told status 0 "a good node"
told timestamp_seconds "$(date +%s | cut -c1-7)" "a good node"
for status in 3 75; do
  rm -f state/measured metrics/sonde.prom
  echo "$status" >run.status
  expect 0 "a run that ends with $status" site/epilog.sh
  [[ -e metrics/sonde.prom ]] || fail "status $status: no metrics"
  told status "$status" "a run that ends with $status"
done
for broken in run.status export.status; do
  all_well
  echo 1 >"$broken"
  expect 0 "$broken 1" site/epilog.sh
  [[ ! -e metrics/sonde.prom ]] || fail "$broken 1: half a file is published"
  told status 1 "$broken 1"
done
all_well
mkdir metrics/sonde.prom # cannot be replaced
expect 0 "metrics that cannot be written" site/epilog.sh
[[ $(find metrics -name '.*' -type f) == "" ]] || fail "a temporary file is left: $(ls -A metrics)"
rm -r metrics/sonde.prom

echo "--- the epilog: a GPU that is gone"
for status in 0 3 75; do
  all_well
  echo "$status" >run.status
  sed -i 2d verdicts
  expect 1 "status $status of one GPU of two" site/epilog.sh
  grep -q '1 of 2 GPUs' stderr || fail "no word of the GPU that is gone: $(cat stderr)"
  told status 4 "one GPU of two"
  cmp verdicts metrics/sonde.prom || fail "the others are not published"
done
rm state/measured
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
