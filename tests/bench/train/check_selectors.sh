#!/bin/sh
# The committed selectors are, byte for byte, what the evidence gives: the trees of all its devices, and the figures of
# one. The figures of all of them take ten times as long: ESPALIER_CHECK_ALL=1.
set -eu
devices=$(scripts/evidence --list)
if [ "${ESPALIER_CHECK_ALL:-0}" = 1 ]; then trees=; else trees=--trees; fi
# shellcheck disable=SC2086
"$1" train --check $trees --results results --output kernels/selectors --device $devices
[ -z "$trees" ] || exec "$1" train --check --results results --output kernels/selectors --device cpu-graniterapids-avx512vnni-2t
