#!/usr/bin/env bash
# Stands in for ssh under a launcher, so that a lost host ends the job, and a lost job its hosts.
#   onhost.sh SSH-OPTION .. HOST COMMAND ..    here: starts the launcher's daemon on another host
#   onhost.sh --there PROOF COMMAND            there: runs it, and ends when nothing is heard from here
# MPINET_PROOF marks the job's processes, and MPINET_RUN is the process that is told of a loss.
set -uo pipefail

BEAT=1      # seconds between two signs of life
SILENCE=8   # seconds without one, after which the other side is lost

marked() { # the processes of the job on this host, by the mark in their environment
  local file
  for file in $(grep -lszxF "MPINET_PROOF=$MPINET_PROOF" /proc/[0-9]*/environ 2>/dev/null); do
    file=${file%/environ}
    echo "${file#/proc/}"
  done
}

kill_marked() {
  local all
  all=$(marked)
  [ -z "$all" ] || kill -KILL $all 2>/dev/null
}

# ---- there

if [ "${1:-}" = --there ]; then
  export MPINET_PROOF=$2
  exec 3<&0
  bash -c "$3" </dev/null 3<&- &
  job=$!
  {
    while read -r -t $SILENCE _; do :; done
    kill_marked
  } <&3 >/dev/null 2>&1 &
  watcher=$!
  exec 3<&-
  { wait $job; } 2>/dev/null # nothing is said of its being killed
  status=$?
  # A daemon that has put itself into the background works on.
  while [ $status = 0 ] && [ -n "$(marked)" ] && kill -0 $watcher 2>/dev/null; do sleep 0.5; done
  kill $watcher 2>/dev/null || status=0 # nobody is there to hear
  kill_marked
  exit $status
fi

# ---- here

options=()
while [ $# -gt 0 ]; do
  case $1 in
    -[bcDeEFiIJlLmoOpQRSwW]) options+=("$1" "$2"); shift 2 ;;
    -*) options+=("$1"); shift ;;
    *) break ;;
  esac
done
host=$1
shift

quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# A look every few seconds, and no question for a password: nobody is there to answer.
options+=(-T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=2 -o ServerAliveCountMax=3)
said=${MPINET_PROOF:=/tmp/mpinet-$$}.ssh.$$
there="bash $(quoted "$(readlink -f "${BASH_SOURCE[0]}")") --there $(quoted "$MPINET_PROOF") $(quoted "$*")"

beats() { # signs of life, until the launcher has no more use for this process
  while kill -0 $$ && echo; do sleep $BEAT; done 2>/dev/null
}

tell() { # STATUS of ssh: of a lost host
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

connection() { # on the other host the end of what it reads ends all
  local status
  # shellcheck disable=SC2086 # MPINET_SSH may hold options
  ${MPINET_SSH:-ssh} -E "$said" ${options[@]+"${options[@]}"} "$host" "$there" < <(beats)
  status=$?
  [ $status -le 125 ] || tell $status # else the launcher knows what happened
  rm -f "$said"
  return $status
}

# In a process group of its own it can tell of a loss that made the launcher kill this process.
: >"$said"
set -m
connection &
job=$!
trap 'kill -TERM -$job 2>/dev/null; rm -f "$said"; exit 143' TERM INT HUP
wait $job
