# shellcheck shell=bash
# Functions for epilog.sh and health_check.sh, which source this file. Nothing here may block a
# node: a command that uses a GPU runs in its own session and is abandoned at its time limit.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=site.env
. "$here/site.env" || return

say() { echo "sonde $(date -u +%FT%TZ): $*" >&2; }

# run_bounded <seconds> <log> <command...>: returns its status, or 124 if it did not end in time. A
# process that hangs in the driver ignores even SIGKILL, so nobody waits for it.
run_bounded() {
  local limit_s=$1 log=$2 pid begin=$SECONDS
  shift 2
  setsid "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    if ((SECONDS - begin >= limit_s)); then
      disown "$pid"
      pkill -KILL --session "$pid" # ranks have their own process groups, but the same session
      return 124
    fi
    sleep 0.2
  done
  wait "$pid"
}

# publish <name>: writes stdin to a file for the node exporter, visible only when complete.
publish() {
  [[ -n $textfiles ]] || { cat >/dev/null; return 0; }
  local part=$textfiles/.$1.$$
  { cat >"$part" && chmod 644 "$part" && mv -T "$part" "$textfiles/$1"; } || rm -f "$part"
}
