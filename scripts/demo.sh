#!/bin/bash
# demo.sh: diagnose a recording of a real cluster in which one server became slow, and write the report with plots. Does
# not need root, and writes only demo.html next to the program.
set -euo pipefail
cd "$(dirname "$0")/.."

limpet=build/src/cli/limpet
[ -x "$limpet" ] || limpet=build-demo/src/cli/limpet
recording=recordings/ddr-disk-busy-1
report=${limpet%%/*}/demo.html

printf 'Six servers of GlusterFS, six clients that read, 90 seconds. The clients say that it is slow.\n'
printf '\n$ limpet diagnose %s --html %s\n\n' "$recording" "$report"
status=0
"$limpet" diagnose --state /dev/null --html "$report" "$recording" || status=$?
[ "$status" = 1 ] || exit 3 # 1: suspects, which is what the recording has
printf '\nThe same with plots: file://%s\n' "$(realpath "$report")"
printf 'On your own servers: limpet record -o DIR on each, then limpet diagnose DIR...\n'
