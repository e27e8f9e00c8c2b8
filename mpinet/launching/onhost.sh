#!/usr/bin/env bash
# Replaces ssh under a launcher: a lost host then ends the job, and a lost job ends on all its hosts.
#   onhost.sh SSH-OPTION .. -- HOST COMMAND ..     starts the launcher's daemon on another host
# On the other host mpinet/base/guardian runs the daemon, and ends it if this script falls silent.
# MPINET_PROOF marks the job's processes. MPINET_RUN is the process to notify of a lost host.
set -uo pipefail

BEAT=1 # seconds between two heartbeats


options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options+=("$1")
  shift
done
[ $# -ge 3 ] || { echo "no '--' and host after the options of ssh: give them by MPINET_SSH" >&2; exit 255; }
host=$2
shift 2

quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# Check the connection every few seconds, and never ask for a password.
options+=(-T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=2 -o ServerAliveCountMax=3)
said=${MPINET_PROOF:=/tmp/mpinet-$$}.ssh.$$
guardian=$(readlink -f "${BASH_SOURCE[0]}")
guardian=${guardian%/*/*}/base/guardian/__main__.py
python=${MPINET_PYTHON:-python3}
there="test -r $(quoted "$guardian") || exit 127; exec $(quoted "$python") -I -S $(quoted "$guardian")"
there+=" --there $(quoted "$MPINET_PROOF") $(quoted "${MPINET_SHARED:-}") $(quoted "$*")"

beats() { # heartbeats, until the launcher ends this process
  while kill -0 $$ && echo; do sleep $BEAT; done 2>/dev/null
}

tell() { # STATUS of ssh: report a lost host
  local why
  why=$(tail -n 1 "$said" 2>/dev/null | tr -d '\r')
  case $1 in
    255) why="no connection by ssh${why:+ ($why)}" ;;
    126 | 127) why="nothing can be started there: it needs the same mpinet under the same path" ;;
    *) why="the launcher's daemon there was killed by signal $(($1 - 128))" ;;
  esac
  (set -C; echo "$host is lost: $why" >"$MPINET_PROOF.lost") 2>/dev/null || return
  [ -z "${MPINET_RUN:-}" ] || kill -USR2 "$MPINET_RUN" 2>/dev/null
}

connection() { # the end of the input ends all processes on the other host
  local status
  # shellcheck disable=SC2086 # MPINET_SSH may hold options
  ${MPINET_SSH:-ssh} -E "$said" ${options[@]+"${options[@]}"} -- "$host" "$there" < <(beats)
  status=$?
  [ $status -le 125 ] || tell $status # otherwise the launcher knows the reason
  rm -f "$said"
  return $status
}

# In a separate process group, to report a loss even if the launcher kills this process because of it.
: >"$said"
set -m
connection &
job=$!
trap 'kill -TERM -$job 2>/dev/null; rm -f "$said"; exit 143' TERM INT HUP
wait $job
