#!/usr/bin/env bash
# output_test.sh <sonde>: what is printed or written is whole, or the status says that it is not;
# nothing but a regular file is ever replaced.
set -uo pipefail
sonde=$(readlink -f "$1")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PMIX_MCA_gds=hash # its other store is a file of its own, which `ulimit -f` would stop
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  cat err.txt
  failures=$((failures + 1))
}

quick=(run --backend sim:gtx280 --jobs clock --suite quick)
"$sonde" "${quick[@]}" -o whole.h5 >/dev/null 2>&1 || { echo "FAILED: a good run" && exit 1; }

# --- standard output that takes nothing

# loses_output <arguments of sonde ...>: each way to lose what is printed ends with 1 and says so
loses_output() {
  local way got
  for way in full closed; do
    if [[ $way == full ]]; then
      timeout 60 "$sonde" "$@" >/dev/full 2>err.txt
    else
      timeout 60 "$sonde" "$@" >&- 2>err.txt
    fi
    got=$?
    if ((got != 1)) || ! grep -q "cannot write to standard output" err.txt; then
      fail "sonde $*, standard output $way, ended with $got and said:"
    fi
  done
}

loses_output export whole.h5
loses_output export whole.h5 --format prometheus
loses_output list metrics
loses_output list devices --backend sim:h200
loses_output analyze whole.h5
loses_output compare whole.h5 whole.h5
loses_output status whole.h5
loses_output --help
loses_output --version
loses_output run --print-config
loses_output "${quick[@]}" --dry-run -o new.h5
cp whole.h5 before.h5
"$sonde" "${quick[@]}" -o closed.h5 >&- 2>err.txt
[[ $? == 1 ]] || fail "a run without standard output did not end with 1"
"$sonde" export closed.h5 >/dev/null 2>err.txt || fail "what was printed went into the run file"

# A reader that has enough is no error.
"$sonde" list metrics 2>err.txt | head -1 >/dev/null
[[ ! -s err.txt ]] || fail "a closed pipe was complained about"

# --- files over the limit of the process

# limited <kilobytes> <arguments of sonde ...>
limited() {
  local limit=$1 got
  shift
  (ulimit -f "$limit" && timeout 60 "$sonde" "$@" >/dev/null 2>err.txt)
  got=$?
  if ((got != 1)) || ! grep -q "cannot write" err.txt; then
    fail "sonde $* ended with $got at a limit of $limit kB and said:"
  fi
}

limited 16 "${quick[@]}" -o limited.h5  # the shard
rm -rf limited.h5.parts
limited 110 "${quick[@]}" -o unanalysed.h5  # the analysis; shard and run file fit
"$sonde" "${quick[@]}" --resume -o unanalysed.h5 >/dev/null 2>err.txt ||
  fail "a run file without its analysis cannot be analysed later"
limited 16 merge whole.h5 -o limited.h5
limited 16 analyze whole.h5
mkdir -p whole.h5.part/in_use
[[ $("$sonde" analyze whole.h5 2>err.txt) == *"ALL WELL"* ]] ||
  fail "an analysis that cannot be stored is not printed"
rm -r whole.h5.part
limited 1 report whole.h5 -o limited.html
[[ -z $(compgen -G '*.part') ]] || fail "left behind: $(compgen -G '*.part')"
[[ ! -e limited.h5 && ! -e limited.html ]] || fail "half a file stands under the name of a whole one"

# --- what stands under the name of the output

# refuses_output <words> <name>: run, merge and report refuse it before they do anything
refuses_output() {
  local words=$1 name=$2 command got
  for command in "${quick[*]}" "merge whole.h5" "report whole.h5"; do
    # shellcheck disable=SC2086 # words of a command
    timeout 60 "$sonde" $command --force -o "$name" >/dev/null 2>err.txt
    got=$?
    if ((got != 1 && got != 2)) || ! grep -qF -- "$words" err.txt || grep -q "bound to" err.txt; then
      fail "sonde $command --force -o '$name' ended with $got and said:"
    fi
  done
}

mkdir folder blocked.h5.part closed
mkfifo pipe waiting.h5.part
ln -s loop loop
ln -s pipe to_pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
refuses_output "names no file" ""
refuses_output "is a folder" folder
"$sonde" report whole.h5 -o folder >/dev/null 2>err.txt
grep -q -- "--force" err.txt && fail "a folder is to be overwritten with --force"
refuses_output "no regular file" pipe
refuses_output "no regular file" to_pipe
refuses_output "no regular file" socket
refuses_output "blocked.h5.part" blocked.h5
refuses_output "waiting.h5.part" waiting.h5
refuses_output "Too many levels" loop
refuses_output "too long" "$(printf 'x%.0s' {1..300})"
refuses_output "absent" absent/new.h5
if mknod node c 1 3 2>/dev/null; then  # root only
  refuses_output "no regular file" node
  [[ -c node ]] || fail "a device node was replaced"
else
  chmod 0 closed
  refuses_output "ermission denied" closed/new.h5
fi
[[ -p pipe && -S socket && -d folder ]] || fail "something else than a file was replaced"

# A link to a file is replaced itself; what it leads to stays as it is.
echo 'not ours' >target
ln -s target link.h5
"$sonde" "${quick[@]}" -o link.h5 >/dev/null 2>err.txt && fail "a link was replaced without --force"
"$sonde" "${quick[@]}" --force -o link.h5 >/dev/null 2>err.txt || fail "a link was not replaced"
[[ ! -L link.h5 && $(cat target) == 'not ours' ]] || fail "a link was followed"

# A name that is no UTF-8 is a name; the run file holds it in a readable form.
latin=$'gr\xf6\xdfe.h5'
"$sonde" "${quick[@]}" -o "$latin" >/dev/null 2>err.txt || fail "a Latin-1 name was refused"
"$sonde" export "$latin" >export.json 2>err.txt
grep -qF 'gr\\xf6\\xdfe.h5' export.json || fail "the name was not repaired"

# --- the last line of a run says what its status means

# last_line <status> <words> <arguments of sonde run...>: two ranks, under an mpirun that says nothing itself
last_line() {
  local want=$1 words=$2 got
  shift 2
  timeout 100 mpirun --quiet --oversubscribe -n 2 "$sonde" run --suite quick "$@" >out.txt 2>err.txt
  got=$?
  if ((got != want)) || [[ $(tail -n 1 err.txt) != "sonde: status $want: "*"$words"* ]]; then
    fail "sonde run $* ended with $got, not $want, or not with '$words':"
  fi
}

last_line 0 "2 passed; see last0.h5" --backend sim:gtx280 --jobs clock -o last0.h5
last_line 4 "1 passed, 1 failed; see last4.h5" --backend sim:gtx980,gtx980+wrong_data \
  --jobs clock,cache.l1 -o last4.h5
last_line 3 "1 passed, 1 incomplete; see last3.h5" --backend sim:gtx980,gtx980+nan=1 \
  --jobs clock,global.throughput -o last3.h5
last_line 75 "the time budget is over); last75.h5.parts keeps what was measured: go on with the same command and --resume" \
  --backend sim:gtx280 --jobs clock,cache.l1 --time-budget 0.001s -o last75.h5
"$sonde" "${quick[@]}" -o alone.h5 >err.txt 2>&1
[[ $(tail -n 1 err.txt) == "sonde: status 0: 1 passed; see alone.h5" ]] || fail "what a rank alone says last:"

# --- the short export has verdicts and no findings

"$sonde" export last4.h5 >export.json 2>err.txt
"$sonde" export last4.h5 --verdicts-only >short.json 2>err.txt || fail "no short export"
python3 - <<'PYTHON' 2>err.txt || fail "the short export does not hold the verdicts alone:"
import json
whole, short = (json.load(open(name)) for name in ("export.json", "short.json"))
assert len(short["devices"]) == 2
for device in whole["devices"]:
    assert device["findings"] and device["jobs"]
    device["findings"] = device["jobs"] = {}
assert whole == short
PYTHON

((failures == 0)) && echo "passed"
exit $((failures > 0))
