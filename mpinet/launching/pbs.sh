#!/usr/bin/env bash
# Template for PBS: copy it, set the resources, submit it with an mpinet command, from the
# checkout or wherever mpinet is in the PATH or in .venv.
#   MPINET_ARGS="route hypercube:20 --pairs permutation" qsub -v MPINET_ARGS launch/pbs.sh
#   MPINET_ARGS="broadcast torus:64x64x64" qsub -v MPINET_ARGS -l select=4:ncpus=64:mpiprocs=64 launch/pbs.sh
# (With -v MPINET_ARGS=".." PBS would split the value at every comma.)
#PBS -N mpinet
#PBS -l select=2:ncpus=32:mpiprocs=32
#PBS -l walltime=00:30:00
#PBS -j oe

# The job's exit status is the first failing command's, not the last command's.
set -euo pipefail
read -ra arguments <<<"${MPINET_ARGS:-}"
[ ${#arguments[@]} -gt 0 ] ||
  { echo 'usage: MPINET_ARGS="MPINET-COMMAND ..." qsub -v MPINET_ARGS launch/pbs.sh' >&2; exit 2; }

cd "$PBS_O_WORKDIR"
[ ! -d .venv ] || export PATH="$PWD/.venv/bin:$PATH"
out="mpinet-${PBS_JOBID%%.*}.json"

# The node file has a line for each rank and suits Open MPI and MPICH. In a PBS job mpinet launch makes
# no settings for shared cores. It fails if the run did not complete.
ranks=$(wc -l <"$PBS_NODEFILE")
if [ "${arguments[0]}" = sweep ]; then # a sweep has its own folder, and continues with the missing points
  exec mpinet launch -n "$((ranks))" --hostfile "$PBS_NODEFILE" "${arguments[@]}"
fi
# --out comes after the command of one or two words, and before the arguments of a script. A command
# line with its own --out gets no second one.
names_out() { # succeeds if a word before a script's arguments is --out
  local word
  for word; do
    case $word in
    *.py | -m | -c) return 1 ;;
    --out | --out=*) return 0 ;;
    esac
  done
  return 1
}
first=1
case ${arguments[0]} in predict | schedule) first=2 ;; esac
result=(--out "$out")
! names_out "${arguments[@]}" || result=()
mpinet launch -n "$((ranks))" --hostfile "$PBS_NODEFILE" \
  "${arguments[@]:0:first}" "${result[@]}" "${arguments[@]:first}"
[ ! -s "$out" ] || echo "result in $out"
