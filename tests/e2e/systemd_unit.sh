#!/bin/bash
# The systemd units are valid and as closed as their work allows.
set -uo pipefail

if ! command -v systemd-analyze >/dev/null; then
	echo "1..0 # SKIP systemd-analyze is not installed"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
units=(limpet-record)
[ ! -e "$BUILD/data/limpet-serve.service" ] || units+=(limpet-serve)
echo "1..$((4 * ${#units[@]} + 1))"
n=0

say() { # STATUS TITLE: one line of TAP
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
	fi
}

verify() { # verify wants the program to be there, and here it is not installed.
	local output status=0

	sed "s|^ExecStart=[^ ]*|ExecStart=$LIMPET|" "$BUILD/data/$1.service" >"$dir/$1.service"
	output=$(systemd-analyze verify --man=no --recursive-errors=no "$dir/$1.service" 2>&1) || status=1
	[ -z "$output" ] || status=1
	if [ $status = 1 ] &&
		grep -qiE 'Failed to (initialize manager|connect to bus)|not been booted' <<<"$output"; then
		say 0 "systemd-analyze verify of $1 # SKIP it does not work without a running systemd"
	else
		say $status "systemd-analyze verify finds nothing to say about $1"
	fi
	[ -z "$output" ] || sed 's/^/# /' <<<"$output"
}

# exposure UNIT MOST: what "systemd-analyze security" of Debian 12 gives the unit, times ten; 100 is wide
# open.
exposure() {
	local output status=0

	# Before 250 there was no --offline: then the question cannot be asked without installing the unit.
	if ! systemd-analyze --help | grep -q -- --offline; then
		say 0 "exposure of $1 # SKIP this systemd-analyze has no --offline"
		return
	fi
	output=$(systemd-analyze security --no-pager --offline=true --threshold="$2" "$dir/$1.service" 2>&1) ||
		status=1
	say $status "exposure of $1 is at most $2/100"
	[ $status = 0 ] || sed 's/^/# /' <<<"$output"
	tail -n 1 <<<"$output" | sed 's/^/# /'
}

expect() { # UNIT TITLE LINE: the unit has exactly this line
	local status=0

	grep -qxF -- "$3" "$BUILD/data/$1.service" || status=1
	say $status "$2"
	[ $status = 0 ] || echo "# no line '$3'"
}

# What remains is the network (the host's own, which is measured, and that of --send), /proc, and AF_NETLINK
# and AF_UNIX sockets.
for name in "${units[@]}"; do
	verify "$name"
	exposure "$name" 13
	expect "$name" "$name holds no capability" "CapabilityBoundingSet="
	expect "$name" "the system is read-only to $name" "ProtectSystem=strict"
done
unit=$BUILD/data/limpet-record.service

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
	say 0 "its command line and the options suggested are understood"
else
	say 1 "its command line and the options suggested are understood"
	sed 's/^/# /' <<<"$command: $output"
fi
