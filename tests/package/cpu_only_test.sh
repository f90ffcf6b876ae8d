#!/usr/bin/env bash
# cpu_only_test.sh <source folder>: builds the program without CUDA (preset ci-cpu-only; what does not know of CUDA comes from
# ccache) and measures a simulated GPU. Skipped without ccache: it would build everything twice.
set -euo pipefail
cd "$1"
command -v ccache >/dev/null || { echo "skipped: ccache is not installed"; exit 77; }
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
cmake --preset ci-cpu-only
cmake --build --preset ci-cpu-only
sonde=build/ci-cpu-only/bin/sonde
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$sonde" run --backend sim:gtx980 --suite quick --jobs clock -o "$work/run.h5"
if "$sonde" run --backend cuda -o "$work/cuda.h5" 2>"$work/error"; then
  echo "FAILED: it measures by CUDA"
  exit 1
fi
grep -i 'cuda' "$work/error" || { echo "FAILED: no word of CUDA"; exit 1; }
if ldd "$sonde" | grep -i 'cuda\|nvidia'; then
  echo "FAILED: it is linked with CUDA"
  exit 1
fi
