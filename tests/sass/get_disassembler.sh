#!/usr/bin/env bash
# Puts cuobjdump and nvdisasm into .tools/bin for the sass tests, unless PATH has them: from the
# distribution of CUDA's tools on PyPI (6 MB). usage: get_disassembler.sh [folder, default .tools]
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
tools="${1:-$root/.tools}"
if command -v cuobjdump >/dev/null && command -v nvdisasm >/dev/null; then
  echo "cuobjdump and nvdisasm are on the PATH"
  exit 0
fi
if [ -x "$tools/bin/cuobjdump" ] && [ -x "$tools/bin/nvdisasm" ]; then
  echo "cuobjdump and nvdisasm are in $tools/bin"
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --no-compile --target "$work" \
  "nvidia-cuda-cuobjdump>=13.2,<14" "nvidia-cuda-nvdisasm>=13.2,<14"
mkdir -p "$tools/bin"
install -m 755 "$work"/nvidia/cu13/bin/cuobjdump "$work"/nvidia/cu13/bin/nvdisasm "$tools/bin/"
echo "installed cuobjdump and nvdisasm into $tools/bin"
