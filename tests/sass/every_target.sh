#!/usr/bin/env bash
# every_target.sh <source folder> <nvcc>: compiles the kernels for every target of the tarball (preset package) and checks
# the machine code of each. Takes long: compiling for seven targets and one of PTX.
set -euo pipefail
cd "$1"
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
cmake --preset package -DSONDE_CUDA=ON -DCMAKE_CUDA_COMPILER="$2"
cmake --build build/package --target sonde_kernels
python3 -B tests/sass/check_kernels.py build/package/kernels/libsonde_kernels.a
