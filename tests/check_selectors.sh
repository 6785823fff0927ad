#!/bin/sh
# The committed selectors are, byte for byte, what the committed results give: the C++ of all devices, and the figures of
# one. The figures of all of them take ten times as long: ESPALIER_CHECK_ALL=1.
set -eu
ls results/*/device.json >/dev/null 2>&1 || { echo "no results are committed"; exit 77; }
if [ "${ESPALIER_CHECK_ALL:-0}" = 1 ]; then exec "$1" train --check; fi
"$1" train --check --trees
exec "$1" train --check --device cpu-graniterapids-avx512vnni-2t
