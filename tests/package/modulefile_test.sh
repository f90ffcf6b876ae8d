#!/usr/bin/env bash
# modulefile_test.sh <modulefile>: loads it by Environment Modules; skipped without them.
set -euo pipefail
modulefile=$1
modulecmd=$(dpkg-query --listfiles environment-modules 2>/dev/null | grep '/modulecmd.tcl$' | head -n 1 || true)
[[ -n $modulecmd ]] || { echo "skipped: environment-modules is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/modules/sonde" "$work/prefix/sonde/9.9/bin"
cp "$modulefile" "$work/modules/sonde/9.9"
cp "$modulefile" "$work/modules/sonde/9.8"
printf '#!/bin/sh\necho "this is sonde"\n' >"$work/prefix/sonde/9.9/bin/sonde"
chmod +x "$work/prefix/sonde/9.9/bin/sonde"
export MODULEPATH=$work/modules SONDE_PREFIX=$work/prefix

eval "$("$modulecmd" bash load sonde/9.9)"
[[ $(sonde) == "this is sonde" && $SONDE_ROOT == "$work/prefix/sonde/9.9" ]] || { echo "FAILED: load"; exit 1; }
eval "$("$modulecmd" bash unload sonde/9.9)"
[[ -z ${SONDE_ROOT:-} && $PATH != *"$work"* ]] || { echo "FAILED: unload"; exit 1; }
said=$("$modulecmd" bash load sonde/9.8 2>&1 || true)
grep -q 'sonde/9.8 is not there' <<<"$said" || { echo "FAILED: no such folder: $said"; exit 1; }
