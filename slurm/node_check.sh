# shellcheck shell=bash
# What epilog.sh and health_check.sh share; they read it. Nothing here may hang a node: whatever asks a GPU
# runs in a session of its own and is left behind at its limit.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=site.env
. "$here/site.env" || return

say() { echo "sonde $(date -u +%FT%TZ): $*" >&2; }

# run_bounded <seconds> <log> <command...>: its status, or 124 if it did not end in time. A process that hangs in the
# driver does not even end by SIGKILL: nobody waits for it, and it holds none of our descriptors.
run_bounded() {
  local limit_s=$1 log=$2 pid begin=$SECONDS
  shift 2
  setsid "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    if ((SECONDS - begin >= limit_s)); then
      disown "$pid"
      pkill -KILL --session "$pid" # ranks have process groups, but no sessions, of their own
      return 124
    fi
    sleep 0.2
  done
  wait "$pid"
}

# publish <name> reads what the node exporter is to read, and puts it there whole.
publish() {
  [[ -n $textfiles ]] || { cat >/dev/null; return 0; }
  local part=$textfiles/.$1.$$
  { cat >"$part" && chmod 644 "$part" && mv -T "$part" "$textfiles/$1"; } || rm -f "$part"
}
