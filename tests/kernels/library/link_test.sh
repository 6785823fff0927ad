#!/bin/sh
# A program that links one family of the static library has that family alone; a library that links it exports nothing.
# Usage: link_test.sh <program of espalier::dot> <program of espalier::espalier> <shared library of either> <trees>
set -eu

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

for program in "$1" "$2"; do
    "$program" "$4" || fail "$program does not run"
done

ESPALIER_FORCE_VARIANT=histogram/cpu_scalar "$1" || fail "a variant of a family that is not linked may be named"
if ESPALIER_FORCE_VARIANT=nonsense/cpu_scalar "$1"; then fail "a family that there is not may be named"; fi
if "$1" "$4/histogram/cpu-emeraldrapids-avx2-2t.tree" 2>/dev/null; then fail "a tree of no linked family is loaded"; fi

families='coherent_sum convolution_2d distance histogram knn polyphase smallest_k travel_time'
own=$(nm -C --defined-only "$1" | grep -c ' espalier::dot::') || fail "$1 has nothing of dot"
for family in $families; do
    found=$(nm -C --defined-only "$1" | grep -m 3 "[ (]espalier::$family::" || true)
    [ -z "$found" ] || fail "$1, which uses dot alone, has of $family: $found"
    found=$(nm -C --defined-only "$2" | grep -c "[ (]espalier::$family::") || fail "$2, which links all, lacks $family"
done

bytes_of() { size "$1" | awk 'NR == 2 { print $1 + $2 + $3 }'; }
one=$(bytes_of "$1")
all=$(bytes_of "$2")
echo "dot alone: $one bytes, $own symbols of dot; everything: $all bytes"
[ $((one * 2)) -lt "$all" ] || fail "one family is not much smaller than all"

exported=$(nm -DC --defined-only "$3" | grep -E 'espalier(::|_)' | grep -v ' uses_espalier' || true)
[ -z "$exported" ] || fail "$3 exports what it linked: $exported"
