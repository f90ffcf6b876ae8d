#!/usr/bin/env bash
# no_gpu_test.sh <sonde>: where no GPU is visible, the list of GPUs says so, and fails.
set -euo pipefail
status=0
said=$(CUDA_VISIBLE_DEVICES="" "$1" list devices --backend cuda 2>&1) || status=$?
[[ $status == 1 && $said == *"no GPU found"* ]] || { echo "FAILED: status $status, said: $said"; exit 1; }
