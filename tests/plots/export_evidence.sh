#!/bin/sh
# The evidence as tables, for the tests that read them: export_evidence.sh ESPALIER FOLDER
set -eu
rm -rf "$2"
exec "$1" export --results results --device "$(scripts/evidence --list | paste -sd,)" --output "$2"
