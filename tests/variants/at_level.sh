#!/bin/sh
# Runs a test program as on a processor whose highest instruction set is LEVEL, or skips where this one has not got it.
# Usage: at_level.sh <espalier> LEVEL PROGRAM [ARGUMENTS...]
set -eu
espalier=$1
export ESPALIER_CPU_ISA="$2"
shift 2
if ! "$espalier" doctor --device cpu --no-ceilings --json | grep -q "\"key\": \"cpu-[a-z0-9-]*-$ESPALIER_CPU_ISA-[0-9]*t\""; then
    echo "this processor has no $ESPALIER_CPU_ISA"
    exit 77
fi
exec "$@"
