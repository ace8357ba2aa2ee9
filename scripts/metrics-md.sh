#!/bin/bash
# metrics-md.sh: bring the lists in docs/metrics.md up to date with the program in build/.
set -euo pipefail
cd "$(dirname "$0")/.."

limpet=${LIMPET:-build/src/cli/limpet}
lists=$("$limpet" help --markdown metrics)
text=$(sed '/^<!-- the lists/q' docs/metrics.md)
printf '%s\n%s\n' "$text" "$lists" >docs/metrics.md
