# shellcheck shell=bash
# What the scripts of this folder share. Sourced, never run. Leaves the caller in the repository's root.

set -euo pipefail

called_from=$PWD
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

say() { printf '%s\n' "$*"; }

# fail MESSAGE...: ends the script. Every message names the fix.
fail() {
    printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Prints the comment at the top of the calling script: the scripts' --help.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$script"; }

# absolute PATH: PATH as the caller meant it, before we changed directory.
absolute() { (cd "$called_from" && realpath -m -- "$1"); }

# --- stages: what ran and how long it took --------------------------------------------------------

stages=()
current_stage=

# Seconds of processor time that this script's commands have taken so far, those that have ended: unlike time on the
# wall it says little of what else the machine does.
processor_seconds() { awk -v ticks="$(getconf CLK_TCK)" '{ printf "%d", ($16 + $17) / ticks }' "/proc/$$/stat"; }

# stage NAME COMMAND...: runs the command under a heading; its times go into the closing table.
# The command runs plainly, not in a condition, so that `set -e` holds inside functions too.
stage() {
    current_stage=$1
    local started=$SECONDS processor
    processor=$(processor_seconds)
    shift
    printf '\n=== %s\n' "$current_stage"
    "$@"
    stages+=("$(printf '%6d s %8d s  %s' $((SECONDS - started)) $(($(processor_seconds) - processor)) "$current_stage")")
    current_stage=
}

# note TEXT: a line of the closing table for something that was left out, and why.
note() { stages+=("$(printf '%8s %10s  %s' - - "$*")"); }

deadline=0  # in seconds since the script's start; 0: none

# in_time COMMAND...: runs it as long as the deadline allows. To be late is no failure, but a line of the table.
in_time() {
    if ! ((deadline)); then "$@"; return; fi
    local left=$((deadline - SECONDS)) status=124 how='left out'
    if ((left > 0)); then
        how='not ended' status=0
        timeout --kill-after=60 "$left" "$@" || status=$?
    fi
    ((status == 124)) || return "$status"
    note "$current_stage: $how, because $deadline s were over"
}

stage_summary() {
    local status=$?
    trap - EXIT
    if ((${#stages[@]})); then
        printf '\n=== Times\n%8s %10s\n' wall processor
        printf '%s\n' "${stages[@]}"
        printf '%6d s %8d s  in all\n' "$SECONDS" "$(processor_seconds)"
    fi
    if ((status)) && [[ -n $current_stage ]]; then
        printf '%s: failed in: %s (exit %d)\n' "$(basename "$0")" "$current_stage" "$status" >&2
    fi
    exit "$status"
}

# --- machine --------------------------------------------------------------------------------------

# Parallel compilations: one per processor, but each may need 2 GiB (nvcc on template-heavy files).
jobs() {
    local processors memory_gib
    processors=$(nproc)
    memory_gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
    local fit=$((memory_gib / 2))
    ((fit < 1)) && fit=1
    say "${ESPALIER_JOBS:-$((processors < fit ? processors : fit))}"
}

# matches ...: as grep -q, but it reads to the end: ending at once would have the command before it in a pipe fail.
matches() { grep "$@" >/dev/null; }

have_gpu() {
    if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | matches '^GPU '; then return 0; fi
    compgen -G '/proc/driver/nvidia/gpus/*' >/dev/null
}

# Makes an nvcc reachable if there is one: on the PATH, in the usual place, or the toolkit that
# scripts/cuda-toolkit put into .cuda/. ESPALIER_NO_CUDA=1 looks away.
find_nvcc() {
    [[ ${ESPALIER_NO_CUDA:-0} == 1 ]] && return 1
    local folder
    if [[ -z ${CUDACXX:-} ]] && ! command -v nvcc >/dev/null; then
        for folder in "$root/.cuda/toolkit/bin" /usr/local/cuda/bin; do
            if [[ -x $folder/nvcc ]]; then
                export CUDACXX=$folder/nvcc
                break
            fi
        done
    fi
    [[ -n ${CUDACXX:-} ]] || command -v nvcc >/dev/null
}

default_preset() { if find_nvcc; then say cuda; else say host; fi; }

# --- GPU code -------------------------------------------------------------------------------------

# cuda_architectures native|all|LIST: CMake's option for what to compile for. native: machine code for the GPUs that
# are here; all, also where there is none or one that nvcc does not know: what EspalierFlags.cmake lists.
cuda_architectures() {
    local wanted=$1 capability list='' every=-UCMAKE_CUDA_ARCHITECTURES
    case $wanted in
        all) say $every; return ;;
        native) ;;
        *) say "-DCMAKE_CUDA_ARCHITECTURES=${wanted//,/;}"; return ;;
    esac
    for capability in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -u); do
        if ! "${CUDACXX:-nvcc}" --list-gpu-code 2>/dev/null | matches -x "sm_$capability"; then
            say $every
            return
        fi
        list+=${list:+;}$capability-real
    done
    if [[ $list ]]; then say "-DCMAKE_CUDA_ARCHITECTURES=$list"; else say $every; fi
}
