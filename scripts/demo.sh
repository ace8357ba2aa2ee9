#!/bin/bash
# demo.sh: record this host for ten seconds, then show what was seen.
set -euo pipefail
cd "$(dirname "$0")/.."

limpet=build/src/cli/limpet
out=$(mktemp -d "${TMPDIR:-/tmp}/limpet-demo.XXXXXX")
trap 'rm -rf "$out"' EXIT

echo "\$ limpet record --duration 10s -o $out"
"$limpet" record --duration 10s -o "$out"
echo
echo "\$ limpet show $out"
"$limpet" show "$out"
