# shellcheck shell=bash disable=SC2154 # settings of site.env
# What epilog.sh keeps of each GPU of the node, in files named by its UUID, which nothing that concerns another GPU
# changes: in $records the time when it was measured (<UUID>), its metrics, and why it is bad (<UUID>.bad), which
# stands until it is measured well; in $textfiles what the node exporter reads (sonde-<UUID>.prom).
records=$state/gpus
now_listed=$state/gpus.now # "<index> <UUID>" of what the driver lists now
listed=$state/gpus.list    # of all GPUs that belong to the node

# list_node_gpus fails if the driver does not answer. The list of the node's GPUs is what the driver lists, unless that is
# fewer than before: a GPU that is gone stays in the list. A GPU that is not in it (it was replaced) is forgotten.
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

# uuid_of <index|UUID>: of Slurm's number, which is that of nvidia-smi. CUDA may count otherwise.
uuid_of() {
  local uuid=$1
  [[ $1 == GPU-* ]] || uuid=$(sed -n "s/^$1 //p" "$now_listed" "$listed" | head -n 1)
  echo "$uuid"
}

# is_due <UUID>: not measured for long enough, or found bad.
is_due() {
  local last
  last=$(stat -c %Y "$records/$1" 2>/dev/null || echo 0)
  (($(date +%s) - last >= epilog_every_s)) || [[ -e $records/$1.bad ]]
}

# publish_gpu <UUID> <status>: its last metrics, and how its last measurement ended.
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

# record_unknown <UUID> <status>: nothing was found out, which makes no bad GPU a good one.
record_unknown() { [[ -e $records/$1.bad ]] || publish_gpu "$1" "$2"; }

# record_measured <UUID> <metrics of all>: by the verdict in them.
record_measured() {
  local uuid=$1 verdict likely
  verdict=$(sed -n "s/^sonde_device_verdict{UUID=\"$uuid\".*} //p" "$2")
  if ((verdict == 2)) && [[ -e $records/$uuid.bad ]]; then return 0; fi # incomplete: refutes nothing
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

# metrics_of <UUID>: its series with their heads; a series of the run, without labels, gets those of the GPU. Two files
# with the same series would cost the node exporter all of them.
metrics_of() {
  awk -v gpu="UUID=\"$1\"" '
    /^# HELP/ { head = "" }
    /^#/ { head = head $0 "\n"; next }
    index($0, "sonde_device_verdict{" gpu) { labels = substr($0, 21, index($0, "}") - 20) }
    !index($0, "{") { sub(/ /, labels " ") }
    index($0, gpu) { printf "%s%s\n", head, $0; head = "" }'
}

# shellcheck disable=SC2034 # epilog.sh asks for it
gpu_records_are_whole=yes # the last line: a half copied file lacks it
