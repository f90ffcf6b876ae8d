#!/usr/bin/env bash
# man_pages_test.sh <sonde> <man_pages.sh>: every command and every option has its place in the
# pages; skipped without help2man.
set -euo pipefail
sonde=$1
command -v help2man >/dev/null || { echo "skipped: help2man is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2" "$sonde" "$work"

grep -q '^sonde-run \\- measure the GPUs' "$work/sonde-run.1" || { echo "FAILED: no name"; exit 1; }
commands=$("$sonde" --help | sed '1,/^Subcommands:/d' | awk 'NF { print $1 }')
[[ $(wc -l <<<"$commands") -ge 9 ]] || { echo "FAILED: commands: $commands"; exit 1; }
for command in $commands; do
  for option in $("$sonde" "$command" --help | grep -o -e '^ *-[^ ]*' | grep -o -e '--[a-z-]*'); do
    grep -qF -e "${option//-/\\-}" "$work/sonde-$command.1" ||
      { echo "FAILED: $option is not in sonde-$command.1"; exit 1; }
  done
done
[[ $(find "$work" -name '*.1' | wc -l) -eq $(($(wc -l <<<"$commands") + 1)) ]] || { ls "$work"; exit 1; }
