#!/bin/sh
# Starts the program of the same name from libexec/sonde with the Open MPI runtime beside it,
# wherever the tree was unpacked: Open MPI and PMIx have their build's paths compiled in.
root=$(dirname "$(dirname "$(readlink -f "$0")")")
name=$(basename "$0")
export OPAL_PREFIX="$root" OPAL_BINDIR="$root/bin" OPAL_LIBDIR="$root/lib" \
  OPAL_PKGLIBDIR="$root/lib/openmpi" OPAL_DATADIR="$root/share" \
  OPAL_PKGDATADIR="$root/share/openmpi" OPAL_SYSCONFDIR="$root/etc" \
  PMIX_INSTALL_PREFIX="$root" PMIX_LIBDIR="$root/lib" PMIX_PKGLIBDIR="$root/lib/pmix" \
  PMIX_DATADIR="$root/share" PMIX_PKGDATADIR="$root/share/pmix" PMIX_SYSCONFDIR="$root/etc" \
  HWLOC_PLUGINS_PATH="$root/lib/hwloc"
# Open MPI refuses to start even local ranks where there is no ssh, unless it is told not to care.
command -v ssh >/dev/null || export OMPI_MCA_plm_rsh_agent=/bin/false
# --prefix: nodes that are reached over ssh find their daemon in the same place.
[ "$name" != mpirun ] || set -- --prefix "$root" "$@"
exec "$root/libexec/sonde/$name" "$@"
