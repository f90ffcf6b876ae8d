# shellcheck shell=bash disable=SC2154 # settings of site.env
# The records of epilog.sh for each GPU of the node, in files named by its UUID. In $records: the
# time of its last measurement (<UUID>), its metrics, and why it is bad (<UUID>.bad, until it is
# measured as good). In $textfiles: the file for the node exporter (sonde-<UUID>.prom).
records=$state/gpus
now_listed=$state/gpus.now # "<index> <UUID>" of the GPUs that the driver lists now
listed=$state/gpus.list    # the same for all GPUs of the node

# list_node_gpus fails if the driver does not answer. It updates the node's list unless the driver
# lists fewer GPUs than before: a missing GPU stays in the list. Records of GPUs that are not in the
# list (they were replaced) are removed.
list_node_gpus() {
  local file uuid
  run_bounded "$epilog_limit_s" "$state/list_gpus.out" "${list_gpus[@]}" 8>&-
  [[ $? != 124 ]] || return 1
  sed -n 's/^\([0-9]*\), *\(GPU-[^ ]*\)$/\1 \2/p' "$state/list_gpus.out" >"$now_listed"
  touch "$listed"
  (($(wc -l <"$now_listed") < $(wc -l <"$listed"))) || cp "$now_listed" "$listed"
  for file in "$records"/* "${textfiles:-$records}"/sonde-*.prom; do
    uuid=${file##*/}
    uuid=${uuid#sonde-}
    grep -q " ${uuid%.*}$" "$listed" || rm -f "$file"
  done
  return 0
}

# uuid_of <index|UUID>: Slurm's index is that of nvidia-smi; CUDA may count in another order.
uuid_of() {
  local uuid=$1
  [[ $1 == GPU-* ]] || uuid=$(sed -n "s/^$1 //p" "$now_listed" "$listed" | head -n 1)
  echo "$uuid"
}

# is_due <UUID>: true if it was not measured for a long time, or is bad.
is_due() {
  local last
  last=$(stat -c %Y "$records/$1" 2>/dev/null || echo 0)
  (($(date +%s) - last >= epilog_every_s)) || [[ -e $records/$1.bad ]]
}

# publish_gpu <UUID> <status>: publishes its last metrics and the status of its last measurement.
publish_gpu() {
  local labels
  labels="{UUID=\"$1\",Hostname=\"$(uname -n)\"}"
  {
    cat "$records/$1.metrics" 2>/dev/null
    cat <<TEXT
# HELP sonde_epilog_status of the last measurement: as of \`sonde run\`; 124: it did not end in time
# TYPE sonde_epilog_status gauge
sonde_epilog_status$labels $2
# HELP sonde_epilog_timestamp_seconds when that was
# TYPE sonde_epilog_timestamp_seconds gauge
sonde_epilog_timestamp_seconds$labels $(date +%s)
TEXT
  } | publish "sonde-$1.prom"
}

# record_bad <UUID> <status> <why>
record_bad() {
  echo "$1 $3" >"$records/$1.bad"
  publish_gpu "$1" "$2"
}

# record_unknown <UUID> <status>: it was not measured; a bad GPU stays bad.
record_unknown() { [[ -e $records/$1.bad ]] || publish_gpu "$1" "$2"; }

# record_measured <UUID> <file of metrics>: records the verdict in the file.
record_measured() {
  local uuid=$1 verdict likely
  verdict=$(sed -n "s/^sonde_device_verdict{UUID=\"$uuid\".*} //p" "$2")
  if ((verdict == 2)) && [[ -e $records/$uuid.bad ]]; then return 0; fi # incomplete: stays bad
  metrics_of "$uuid" <"$2" >"$records/$uuid.metrics"
  case $verdict in
    0 | 1)
      rm -f "$records/$uuid.bad"
      publish_gpu "$uuid" 0
      ;;
    2) publish_gpu "$uuid" 3 ;;
    *)
      likely=$(sed -n 's/^sonde_device_likely_cause.*likely="\([^"]*\).*/, likely \1/p' "$records/$uuid.metrics")
      record_bad "$uuid" 4 "failed its verdict$likely"
      ;;
  esac
}

# metrics_of <UUID>: the series of this GPU with their headers. A series of the run, without labels,
# gets the labels of the GPU: if two files had the same series, the node exporter would drop all.
metrics_of() {
  awk -v gpu="UUID=\"$1\"" '
    /^# HELP/ { head = "" }
    /^#/ { head = head $0 "\n"; next }
    index($0, "sonde_device_verdict{" gpu) { labels = substr($0, 21, index($0, "}") - 20) }
    !index($0, "{") { sub(/ /, labels " ") }
    index($0, gpu) { printf "%s%s\n", head, $0; head = "" }'
}

# shellcheck disable=SC2034 # used by epilog.sh
gpu_records_are_whole=yes # must be the last line: an incomplete copy of this file lacks it
