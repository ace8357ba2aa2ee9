#!/bin/bash
# The systemd unit is valid and as closed as the recorder's work allows.
set -uo pipefail

# What "systemd-analyze security" of Debian 12 gives the unit, times ten; 100 is wide open. What
# remains is the host's network (which is measured), /proc, and AF_NETLINK and AF_UNIX sockets.
threshold=8

unit=$BUILD/data/limpet-record.service
if ! command -v systemd-analyze >/dev/null; then
	echo "1..0 # SKIP systemd-analyze is not installed"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo "1..5"

# verify wants the program to be there, and here it is not installed.
sed "s|^ExecStart=[^ ]*|ExecStart=$LIMPET|" "$unit" >"$dir/limpet-record.service"
if output=$(systemd-analyze verify --man=no --recursive-errors=no "$dir/limpet-record.service" 2>&1) &&
	[ -z "$output" ]; then
	echo "ok 1 - systemd-analyze verify finds nothing to say"
elif grep -qiE 'Failed to (initialize manager|connect to bus)|not been booted' <<<"$output"; then
	echo "ok 1 - systemd-analyze verify # SKIP it does not work without a running systemd"
else
	echo "not ok 1 - systemd-analyze verify finds nothing to say"
fi
[ -z "$output" ] || sed 's/^/# /' <<<"$output"

# Before 250 there was no --offline: then the question cannot be asked without installing the unit.
if ! systemd-analyze --help | grep -q -- --offline; then
	echo "ok 2 - exposure # SKIP this systemd-analyze has no --offline"
elif output=$(systemd-analyze security --no-pager --offline=true --threshold=$threshold \
	"$dir/limpet-record.service" 2>&1); then
	echo "ok 2 - exposure is at most $threshold/100"
else
	echo "not ok 2 - exposure is at most $threshold/100"
	sed 's/^/# /' <<<"$output"
fi
tail -n 1 <<<"$output" | sed 's/^/# /'

expect() { # NUMBER TITLE LINE: the unit has exactly this line
	if grep -qxF -- "$3" "$unit"; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		echo "# no line '$3'"
	fi
}
expect 3 "it holds no capability" "CapabilityBoundingSet="
expect 4 "the system is read-only to it" "ProtectSystem=strict"

# The command line of the unit, with the options that /etc/default/limpet suggests.
set -f
example=$(sed -n 's/^#LIMPET_RECORD_OPTIONS="\(.*\)"/\1/p' "$SOURCE/data/limpet.default")
command=$(sed -n 's/^ExecStart=[^ ]* //p' "$unit")
command=${command//'${STATE_DIRECTORY}'/$dir/state}
command=${command//'$LIMPET_RECORD_OPTIONS'/$example}
# shellcheck disable=SC2086
if [ -n "$example" ] && output=$("$LIMPET" $command --name unit \
	--root "$SOURCE/tests/fixtures/trees/vanish" 2>&1) &&
	[ -s "$dir/state/unit-20240301T120000Z.lpa" ]; then
	echo "ok 5 - its command line and the options suggested are understood"
else
	echo "not ok 5 - its command line and the options suggested are understood"
	sed 's/^/# /' <<<"$command: $output"
fi
