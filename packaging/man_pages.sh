#!/usr/bin/env bash
# man_pages.sh <sonde> <folder>: writes sonde.1 and a sonde-COMMAND.1 for each command, from --help.
# Needs help2man.
set -euo pipefail
sonde=$(realpath "$1")
folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# page <name of the page> <its one line> [<command>]. help2man calls a page as the program is called.
page() {
  ln -sf "$sonde" "$work/$1"
  help2man --no-info --name "$2" --version-string "$1 $version" --help-option "${3:-} --help" \
    "$work/$1" >"$folder/$1.1"
}

version=$("$sonde" --version)
version=${version#sonde }
mkdir -p "$folder"
page sonde "microbenchmarks of the GPUs of a cluster"
"$sonde" --help | sed -n '/^Subcommands:/,$ s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
  page "sonde-$command" "$("$sonde" "$command" --help | head -n 1)" "$command"
done
