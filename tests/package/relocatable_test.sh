#!/usr/bin/env bash
# relocatable_test.sh <build folder> <mpiexec> <package_relocatable.cmake>: packs the tarball, unpacks
# it elsewhere, and runs it with the system's Open MPI out of sight where that can be done.
set -euo pipefail
build=$1 mpiexec=$2 script=$3
command -v patchelf >/dev/null || { echo "skipped: patchelf is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -D BUILD_DIR="$build" -D MPIEXEC="$mpiexec" -D NAME=sonde-tested -D OUTPUT_DIR="$work" \
  -P "$script"
mkdir "$work/else where"
tar -xzf "$work/sonde-tested.tar.gz" -C "$work/else where"
tree="$work/else where/sonde-tested"
rm -rf "$build/package/sonde-tested"

echo "--- only glibc comes from the host"
for program in sonde mpirun orted; do
  ldd "$tree/libexec/sonde/$program" | grep '=>' | grep -Ev "=> $tree/" |
    grep -Ev '^\s*lib(c|m|dl|rt|pthread|resolv)\.so' && { echo "FAILED: $program"; exit 1; }
done

echo "--- the notices of what is compiled in, and of what is carried along"
if command -v dpkg-query >/dev/null; then
  for part in nlohmann-json cli11 libboost libjs-vega openmpi libhdf5; do
    compgen -G "$tree/share/doc/licences/*$part*/copyright" >/dev/null || { echo "FAILED: $part"; exit 1; }
  done
fi
for file in NOTICES.md CITATION.cff CHANGELOG.md; do
  [[ -s $tree/share/doc/sonde/$file ]] || { echo "FAILED: $file"; exit 1; }
done

echo "--- man pages"
if command -v help2man >/dev/null; then
  grep -q '^\.TH SONDE-RUN' "$tree/share/man/man1/sonde-run.1" || { echo "FAILED: no man page"; exit 1; }
fi

echo "--- two ranks, one file, one page"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
hide=$("$(dirname "$mpiexec")/ompi_info" --parsable --path pkglibdir | cut -d: -f3)
audit() {
  cd "$work"
  "$tree/bin/mpirun" --oversubscribe -n 2 "$tree/bin/sonde" run --backend sim:gtx980 \
    --suite quick --jobs clock -o run.h5
  "$tree/bin/sonde" report run.h5 -o report.html
}
hide_and_audit() {
  mount -t tmpfs tmpfs "$hide"
  audit
}
export work tree hide
export -f audit hide_and_audit
if unshare --mount --propagation private true 2>/dev/null; then
  unshare --mount --propagation private bash -ec hide_and_audit
else
  audit
fi
grep -q '</html>' "$work/report.html"
