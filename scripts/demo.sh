#!/bin/bash
# demo.sh: record this host for ten seconds, then show what was seen. Needs no root; leaves nothing
# behind.
set -euo pipefail
cd "$(dirname "$0")/.."

limpet=build/src/cli/limpet
seconds=${SECONDS_TO_RECORD:-10}
out=$(mktemp -d "${TMPDIR:-/tmp}/limpet-demo.XXXXXX")
load=
trap 'kill $load 2>/dev/null || true; rm -rf "$out"' EXIT
mkdir "$out/archives"

# run ARGUMENT...: say what is run, and run it.
run() {
	printf '\n$ limpet %s\n' "${*//$out/DIR}"
	"$limpet" "$@"
}

# A little to see: a megabyte to the disk, four times a second.
(
	trap 'exit 0' TERM
	while :; do
		dd if=/dev/zero of="$out/load" bs=64k count=16 conv=fsync status=none
		sleep 0.25
	done
) &
load=$!

echo "limpet records this host for $seconds seconds, with some writing to look at..."
run record --duration "${seconds}s" --name demo --quiet -o "$out/archives"
kill $load
wait $load 2>/dev/null || true

# The busiest twenty components of a kind fit on a screen; 'limpet show' lists them all.
run show "$out/archives" | awk '
	/^[a-z]+ .* samples / { kind = $1; shown = 0; left = 0 }
	/^demo\// { if (++shown > 20) { left++; next } }
	left && /^$/ { printf "  and %d more\n", left; left = 0 }
	/^$/ { blank = 1; next }
	/^metrics of / { next }
	blank { print ""; blank = 0 }
	{ print substr($0, 1, 120) }'
busiest=$("$limpet" show --csv -m wr_sec -i "${seconds}s" -c '*/disk:*' "$out/archives" |
	sort -t, -k4 -g | tail -n 1 | cut -d, -f2)
case $busiest in
*/disk:*) run show -m tps,wr_sec,await,%util -c "$busiest" "$out/archives" ;;
esac
run check "$out"/archives/*.lpa | sed "s|$out|DIR|g"
printf "\nNext: 'limpet help', or '%s help record' for the agent.\n" "$limpet"
