#!/usr/bin/env bash
# From a fresh clone to a report (run) or to tested code (test) in one command, on a machine that
# has nothing but git. Debian 12 and Ubuntu 24.04: installs what is missing with apt. Elsewhere:
# says what to load.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh run [options of `sonde run`]
       ./bootstrap.sh test | lint | package
       ./bootstrap.sh soak [minutes]

  run      install what is missing, build, audit the GPUs of this machine (without any: a simulated
           fleet of four, one of them broken) and write results/latest/report.html
  test     install what is missing, check formatting and scripts, build everything with warnings as
           errors, run every test
  lint     check formatting and scripts, and read each source with a short clang-tidy list
  package  make the relocatable tarball in dist/
  soak     what takes hours (CONTRIBUTING.md): fuzz the readers of files for 50 minutes, or as told, run
           the tests under the sanitizers, kill runs, mangle files; a summary is in build/soak

`run` ends with 0 when the audit was finished, whatever its verdicts; they are printed.
TEXT
}

# Debian and Ubuntu names; what_to_load below says the same for other machines.
build_packages=(g++ cmake ninja-build pkg-config ccache git libopenmpi-dev openmpi-bin
  libhdf5-openmpi-dev libcli11-dev libhwloc-dev nlohmann-json3-dev libfmt-dev
  libtomlplusplus-dev libboost-math-dev libjs-vega)
test_packages=(python3-pip libgtest-dev libgmock-dev hdf5-tools python3 python3-h5py python3-pandas
  python3-xarray python3-h5netcdf python3-netcdf4 python3-matplotlib python3-nbclient python3-ipykernel
  slurm-wlm munge environment-modules)
# A browser for the test of report.html: 80 MB. Ubuntu has none as a package, only a snap.
if ! grep -qsx 'ID=ubuntu' /etc/os-release; then test_packages+=(chromium fonts-dejavu-core); fi
# One formatter for all: other releases format some lines otherwise. Of clang-tidy the newest that
# is packaged: 14, Debian's default, does not know std::source_location.
formatter=clang-format-14
llvm=19
if grep -qsx 'ID=ubuntu' /etc/os-release; then llvm=18; fi
tidy=clang-tidy-$llvm
lint_packages=("$formatter" "$tidy" shellcheck)
fuzz_packages=("clang-$llvm" "libclang-rt-$llvm-dev")
package_packages=(patchelf help2man)

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'bootstrap.sh: %s\n' "$*" >&2
  exit 1
}

what_to_load() {
  cat >&2 <<TEXT

sonde needs the following (packages of Debian 12 or Ubuntu 24.04, or modules of your site):
  g++ 12 or newer, CMake 3.25 or newer, Ninja, pkg-config, git
  Open MPI 4 or newer, and an HDF5 built with it ("parallel", C and HL libraries)
  hwloc, fmt, nlohmann_json, CLI11, toml++, Boost.Math (headers), Vega (libjs-vega)
  optional: the CUDA toolkit 12 or newer (nvcc); without it only simulated GPUs can be measured
  for the tests: GoogleTest with GoogleMock, h5dump, python3 with h5py, pandas and nbclient, Slurm and munge
On a cluster:          module load gcc cmake ninja openmpi hdf5/<parallel> hwloc boost cuda
With root, on Debian:  apt-get install ${missing[*]}
TEXT
}

# --- packages ------------------------------------------------------------------------------------

missing=()
find_missing_packages() {
  missing=()
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

may_install() {
  command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }
}

# Commands must be there even where packages have other names; libraries are left to CMake.
stop_without_commands() {
  local command absent=()
  for command in g++ cmake ninja pkg-config mpicc mpirun; do
    command -v "$command" >/dev/null || absent+=("$command")
  done
  if ((${#absent[@]})); then
    what_to_load
    die "not found: ${absent[*]} (they build sonde) load or install them, then run this again"
  fi
}

install_packages() {
  if command -v dpkg-query >/dev/null; then find_missing_packages "$@"; else missing=("$@"); fi
  ((${#missing[@]})) || return 0
  if ! may_install; then
    stop_without_commands
    return 0
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # Other programs may hold apt's lock on a machine that was just started.
  local apt=(apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  as_root "${apt[@]}" update >&2
  as_root env DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y --no-install-recommends \
    "${missing[@]}" >&2 || die "apt-get could not install ${missing[*]} (they build sonde)" \
    "see its messages above; on Ubuntu most of them are in 'universe'"
  missing=()
}

# --- CUDA ----------------------------------------------------------------------------------------

# Prints the path of an nvcc that can compile C++20 (12.0 or newer); says so if there is none.
find_nvcc() {
  local nvcc release
  for nvcc in "$(command -v nvcc || true)" "${CUDACXX:-}" "${CUDA_HOME:-/nowhere}/bin/nvcc" \
    "${CUDA_PATH:-/nowhere}/bin/nvcc" /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc \
    /opt/cuda/bin/nvcc; do
    [[ -n $nvcc && -x $nvcc ]] || continue
    release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    if ((${release:-0} >= 12)); then
      echo "$nvcc"
      return 0
    fi
    say "passing over $nvcc (release ${release:-unknown}; C++20 needs 12 or newer)"
  done
  return 1
}

count_gpus() {
  local count
  count=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
  if ((count == 0)); then
    count=$(find /proc/driver/nvidia/gpus -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
  fi
  echo "$count"
}

# The compute capabilities of the GPUs here, as CMake writes them: "90-real" or "80-real;90-real".
gpu_architectures() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9.]+$' |
    tr -d . | sort -nu | sed 's/$/-real/' | paste -sd ';'
}

# --- building ------------------------------------------------------------------------------------

# configure <preset> [cmake arguments]
configure() {
  # Clones in other folders share what ccache has.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  local preset=$1
  shift
  local arguments=("$@") nvcc
  if nvcc=$(find_nvcc); then
    arguments+=(-DSONDE_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc")
  else
    say "no nvcc: the CUDA backend is left out, everything else is built"
    arguments+=(-DSONDE_CUDA=OFF)
  fi
  if ! cmake --preset "$preset" "${arguments[@]}" >&2; then
    ((${#missing[@]})) && what_to_load
    die "CMake could not configure sonde (its messages above name what it did not find)"
  fi
}

# configure_and_build <preset> [cmake arguments]
configure_and_build() {
  configure "$@"
  say "building (preset $1)"
  cmake --build --preset "$1" >&2
}

# --- the commands --------------------------------------------------------------------------------

# Ranks may be root in a container, may outnumber the cores, and bind themselves to their GPU's
# NUMA node. A verdict is no failure that Open MPI need comment on.
set_mpi_environment() {
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_orte_execute_quiet=1
  # Open MPI 5 starts processes by PRRTE, which has names of its own.
  export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    PRTE_MCA_hwloc_default_binding_policy=none
  if ((EUID == 0)); then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

run() {
  install_packages "${build_packages[@]}"
  local gpus architectures
  gpus=$(count_gpus)
  architectures=$(gpu_architectures || true)
  configure_and_build release ${architectures:+"-DCMAKE_CUDA_ARCHITECTURES=$architectures"}

  local sonde=build/release/bin/sonde arguments=("$@") ranks=$gpus
  if ((gpus > 0)) && find_nvcc >/dev/null 2>&1; then
    say "auditing the $gpus GPUs of this machine"
  else
    say "no GPU that this build can measure: auditing a simulated fleet of four H200," \
      "the last with a slow SM"
    ranks=4
    # Unless told what to run: what shows the product within a minute on two cores.
    (($#)) || arguments=(--suite quick --jobs "latency,shared,global.throughput,placement")
    [[ " $* " == *" --backend"* ]] ||
      arguments+=(--backend "sim:h200,h200,h200,h200+slow_sm=17:3")
  fi

  local results
  results=results/$(date -u +%Y%m%dT%H%M%SZ)
  mkdir -p "$results"
  ln -sfn "$(basename "$results")" results/latest
  set_mpi_environment
  local status=0
  "${MPIEXEC:-mpirun}" -n "$ranks" "$sonde" run "${arguments[@]}" -o "$results/run.h5" || status=$?
  case $status in
    0) say "finished: all devices passed" ;;
    3) say "finished with gaps: some findings are missing or a device was lost" ;;
    4) say "finished: at least one device failed its verdict" ;;
    75) die "stopped early; go on with: $sonde run --resume -o $results/run.h5" ;;
    *) exit "$status" ;;
  esac
  "$sonde" report "$results/run.h5" -o "$results/report.html"
  cat <<TEXT

  report    $results/report.html   (one file, opens without a network)
  run file  $results/run.h5        (HDF5: every trace, docs/file-format.md)
  program   $sonde --help
TEXT
}

run_tests() {
  install_packages "${build_packages[@]}" "${test_packages[@]}" "${lint_packages[@]}"
  if find_nvcc >/dev/null 2>&1; then
    tests/sass/get_disassembler.sh >&2 ||
      say "no cuobjdump and nvdisasm: the test of the kernels' machine code will be skipped"
  fi
  check_format
  configure_and_build ci
  set_mpi_environment
  say "testing"
  ctest --preset ci || {
    local status=$?
    show_failed_tests build/ci/Testing/Temporary/LastTest.log
    return "$status"
  }
}

# show_failed_tests <log of ctest>: again at the end, where hundreds of passed and skipped tests do not hide it.
show_failed_tests() {
  say "what the failed tests printed"
  awk '/^[0-9]+\/[0-9]+ Testing: / { block = ""; test = $3 }
       { block = block test ": " $0 "\n" }
       /^Test (Failed|Timeout)/ { failed = 1 }
       / end time: / { if (failed) printf "%s", block; failed = 0 }' "$1" | tail -n 150 >&2
}

# On machines without apt a tool may be missing: then its check is left out, and it is said.
has_linter() {
  command -v "$1" >/dev/null || {
    say "$1 was not found: its check is left out"
    return 1
  }
}

check_format() {
  say "checking formatting and scripts"
  if has_linter "$formatter"; then
    git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs -r "$formatter" --dry-run --Werror
  fi
  if has_linter shellcheck; then
    git ls-files -- bootstrap.sh .ci/run '*.sh' '*.sbatch' | xargs -r shellcheck
  fi
}

lint() {
  install_packages "${build_packages[@]}" "${test_packages[@]}" "${lint_packages[@]}"
  check_format
  say "linting"
  if has_linter "$tidy"; then
    configure lint
    tests/lint/tidy.py "$tidy" build/lint src analysis jobs
  fi
  say "lint: done"
}

# soak_part <name> <command...>: its output into build/soak, one line into the summary.
soak_part() {
  local name=$1 begin=$SECONDS result=passed
  shift
  say "soaking: $name"
  "$@" >"build/soak/$name.log" 2>&1 || result=FAILED
  [[ $result == passed ]] || soak_result=1
  printf '%-8s %-7s %5d s  %s\n' "$name" "$result" "$((SECONDS - begin))" \
    "see build/soak/$name.log" | tee -a build/soak/summary.txt
}

build_preset() { cmake --preset "$@" && cmake --build --preset "$1"; }

fuzz() { # <seconds for each target>
  build_preset fuzz "-DCMAKE_CXX_COMPILER=clang++-$llvm" &&
    tests/fuzz/fuzz.sh build/fuzz/tests/fuzz "$1" build/soak/fuzz
}

test_sanitized() { # <preset>
  build_preset "$1" && ctest --preset "$1"
}

soak() {
  local minutes=${1:-50}
  [[ $minutes =~ ^[0-9]+$ ]] || die "'$minutes' is no number of minutes (for fuzzing)"
  install_packages "${build_packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}"
  configure_and_build ci
  set_mpi_environment
  mkdir -p build/soak
  : >build/soak/summary.txt
  soak_result=0
  soak_part fuzz fuzz "$((minutes * 60 / 5))"
  soak_part asan test_sanitized asan
  soak_part tsan test_sanitized tsan
  soak_part tests ctest --preset soak
  say "done:"
  cat build/soak/summary.txt
  exit "$soak_result"
}

package() {
  install_packages "${build_packages[@]}" "${package_packages[@]}"
  configure_and_build package
  ls -l dist/*.tar.gz
}

command=${1:-help}
(($#)) && shift
case $command in
  run) run "$@" ;;
  test) run_tests ;;
  lint) lint ;;
  soak) soak "$@" ;;
  package) package ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
