#!/usr/bin/env bash
# bad_input_test.sh <sonde> <model.json>: each bad input ends with its status and one clear line on
# stderr, and leaves no result.
set -uo pipefail
sonde=$(readlink -f "$1")
model=$(readlink -f "$2")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# refuses <status> <words that stderr must hold> <arguments of sonde ...>
refuses() {
  local status=$1 words=$2 got
  shift 2
  timeout 60 "$sonde" "$@" >out.txt 2>err.txt
  got=$?
  if ((got != status)) || [[ $(wc -l <err.txt) != 1 ]] || ! grep -qF -- "$words" err.txt; then
    echo "FAILED: sonde $* ended with $got (expected $status) and said:"
    cat err.txt
    failures=$((failures + 1))
  fi
}

printf 'suit = "quick"\n' >bad.toml
sed 's/"sets": [0-9]*/"sets": 2147483647/' "$model" >endless.json
mkdir folder
mkfifo pipe pipe.json
ln -s loop loop
long=$(printf 'x%.0s' {1..300})
echo 'text' >text.h5
quick=(run --backend sim:gtx980 --jobs clock)
"$sonde" "${quick[@]}" -o whole.h5 >/dev/null 2>&1 || { echo "FAILED: a good run" && exit 1; }
head -c 9000 whole.h5 >truncated.h5

refuses 2 "nothing is known of such a run" status nowhere.h5
refuses 2 "rnu" rnu
refuses 2 "bad.toml:1:1: unknown key 'suit'" run --config bad.toml -o new.h5
refuses 2 "a folder" run --config folder -o new.h5
refuses 2 "no regular file" run --config pipe -o new.h5
refuses 2 "].sets" run --backend sim:./endless.json --dry-run -o new.h5
refuses 2 "no regular file" run --backend sim:./pipe.json -o new.h5
refuses 2 "--force" "${quick[@]}" -o whole.h5
refuses 1 "/nowhere" "${quick[@]}" -o /nowhere/new.h5
refuses 1 "no HDF5 file" report text.h5 -o new.html
refuses 1 "truncated" report truncated.h5 -o new.html
refuses 1 "absent.h5" export absent.h5
for input in "loop" "$long"; do
  refuses 1 "$input" export "$input"
  refuses 1 "$input" analyze "$input"
  refuses 1 "$input" report "$input" -o new.html
  refuses 1 "$input" compare whole.h5 "$input"
  refuses 1 "$input" merge "$input" -o new.h5
  refuses 2 "$input" run --config "$input" -o new.h5
  refuses 2 "$input" run --backend "sim:$input.json" -o new.h5
done
refuses 1 "no regular file" export pipe
# Names are shown, never sent to the terminal.
refuses 1 '\x1b[31m' export $'\e[31m'
refuses 1 'e.h5' export $'gr\xf6\xdfe.h5'
if [[ -e new.h5 || -e new.html ]]; then
  echo "FAILED: a refused command left a result"
  failures=$((failures + 1))
fi
((failures == 0)) && echo "passed"
exit $((failures > 0))
