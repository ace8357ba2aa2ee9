#!/bin/bash
# soak.sh [-t SECONDS] [-e SECONDS] [-r RATE] [-o DIR] [BUILD]: run everything at once, for a long time.
#
# Records with a clock that runs RATE times as fast (1440: a day takes a minute), so that files rotate, are sealed and
# expire all the time; kills the recorder now and then; traces processes that come and go; diagnoses and checks the
# archives; damages copies and repairs them. Every -e seconds [60] it prints a line with the memory, descriptors and
# bytes in use, and the errors. The last line is "N errors", which are in DIR/errors; the exit code is 1 if there are
# any.
#
# Needs root for tracing and for a network namespace, in which interfaces come and go.
set -u

seconds=7200 every=60 rate=1440 work=
while getopts t:e:r:o: option; do
	case $option in
	t) seconds=$OPTARG ;;
	e) every=$OPTARG ;;
	r) rate=$OPTARG ;;
	o) work=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
build=$(realpath "${1:-build}")
limpet=$build/src/cli/limpet
work=${work:-$(mktemp -d /tmp/limpet-soak-XXXXXX)}
mkdir -p "$work/rec" "$work/bad"
: >"$work/errors"
export LIMPET_STATE=$work/state.db FAKECLOCK=$work/clock
begin=$SECONDS

# The library that simulates the clock reads this: see tests/e2e/fakeclock.c.
python3 - "$FAKECLOCK" "$rate" <<'END'
import struct, sys, time
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<4q", time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns(),
                        int(sys.argv[2]), 0))
END

fail() { echo "$((SECONDS - begin)) s: $*" | tr '\n' ' ' >>"$work/errors"; echo >>"$work/errors"; }
over() { [ -e "$work/stop" ] || [ $((SECONDS - begin)) -ge "$seconds" ]; }
count() { echo >>"$work/$1.count"; }
counted() { [ -e "$work/$1.count" ] && wc -l <"$work/$1.count" || echo 0; }

# Wait, but not beyond the end of the run.
rest() { local n; for ((n = 0; n < $1; n++)); do over && return; sleep 1; done; }

# The recorder, which is stopped every few minutes, by SIGTERM or SIGKILL.
record() {
	local n=0 pid code
	until over; do
		LD_PRELOAD=$build/tests/e2e/libfakeclock.so "$limpet" record -o "$work/rec" \
			--name soak --interval 5m --keep 30d --flush 5m -q 2>>"$work/record.log" &
		pid=$!
		echo $pid >"$work/record.pid"
		rest 400
		n=$((n + 1))
		if [ $((n % 2)) = 0 ]; then kill -KILL $pid; else kill -TERM $pid; fi
		wait $pid 2>/dev/null
		code=$?
		[ $code = 0 ] || [ $((n % 2)) = 0 ] || fail "the recorder ended with $code"
		count restarts
	done
}

# A tracer that runs all the time, of processes that come and go.
trace() {
	local load='while [ ! -e '"$work/stop"' ]; do cat /etc/passwd >/dev/null; sleep 0.2; done'
	local code
	"$limpet" trace syscalls -o "$work/traces" --name soak --records -q -- sh -c "$load" \
		2>>"$work/trace.log" &
	echo $! >"$work/trace.pid"
	until over; do rest 5; done
	kill -TERM $! 2>/dev/null
	wait $! 2>/dev/null
	code=$?
	case $code in 0 | 143) ;; *) fail "the tracer ended with $code" ;; esac
}

# Short traces, each in a separate file; the last ten are kept.
trace_short() {
	local n=0
	until over; do
		n=$((n + 1))
		"$limpet" trace syscalls -o "$work/short/$n.lpa" -q -- \
			sh -c 'for i in 1 2 3 4 5; do ls -l /etc >/dev/null; done' \
			2>>"$work/trace.log" || fail "a trace ended with $?"
		rm -f "$work/short/$((n - 10)).lpa"
		count traces
		rest 20
	done
}

diagnose() {
	local code out
	until over || [ "$(find "$work/rec" -name '*.lpa')" ]; do sleep 1; done
	until over; do
		out=$("$limpet" diagnose "$work/rec" 2>&1)
		code=$?
		case $code in 0 | 1 | 4) ;; *) fail "diagnose ended with $code: ${out: -300}" ;; esac
		count diagnoses
		rest 15
	done
}

# Archives must be intact; damaged copies are repaired, and must be intact then.
check() {
	local file out
	until over; do
		for file in "$work"/rec/*.lpa; do
			over && return
			cp "$file" "$work/bad/copy.lpa" 2>/dev/null || continue # expired just now
			out=$("$limpet" check "$work/bad/copy.lpa" 2>&1) || fail "check: $file: $out"
			printf 'damaged' | dd of="$work/bad/copy.lpa" bs=1 conv=notrunc status=none \
				seek=$((RANDOM % $(stat -c %s "$work/bad/copy.lpa")))
			rm -f "$work/bad/mended.lpa"
			# Changed bytes after the last block of a file that is being written are not damage.
			"$limpet" check --repair -o "$work/bad/mended.lpa" "$work/bad/copy.lpa" \
				>/dev/null 2>&1 && continue
			out=$("$limpet" check "$work/bad/mended.lpa" 2>&1) || fail "repair: $out"
			count repairs
			rest 2
		done
		rest 2
	done
}

# Interfaces and connections that come and go.
churn() {
	local n=0
	until over; do
		n=$((n + 1))
		ip link add "soak$n" type dummy 2>/dev/null && ip link set "soak$n" up
		ip link del "soak$((n - 5))" 2>/dev/null
		count names
		sleep 0.5
	done
}

rss() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$1/status" 2>/dev/null || echo -; }
fds() { ls "/proc/$1/fd" 2>/dev/null | wc -l; }
pid_of() { cat "$work/$1.pid" 2>/dev/null || echo 0; }

line() {
	local r t
	r=$(pid_of record) t=$(pid_of trace)
	printf '%7d %5d %7s %4s %6d %9d %7s %4s %9d %6d %6d %6d %6d %5d\n' $((SECONDS - begin)) \
		$(((SECONDS - begin) * rate / 86400)) "$(rss "$r")" "$(fds "$r")" \
		"$(find "$work/rec" -name '*.lpa' | wc -l)" "$(du -sb "$work/rec" | cut -f1)" \
		"$(rss "$t")" "$(fds "$t")" "$(du -sb "$work/traces" 2>/dev/null | cut -f1)" \
		"$(counted names)" "$(counted diagnoses)" "$(counted repairs)" "$(counted traces)" \
		"$(wc -l <"$work/errors")"
}

run() {
	local parts=()
	mkdir -p "$work/short"
	for part in record trace trace_short diagnose check churn; do
		$part &
		parts+=($!)
	done
	printf '%7s %5s %7s %4s %6s %9s %7s %4s %9s %6s %6s %6s %6s %5s\n' seconds days rec-MB fds \
		files bytes trace-MB fds bytes names diags mended traces errs
	until over; do
		rest "$every"
		line
	done
	touch "$work/stop"
	wait "${parts[@]}" 2>/dev/null
	echo "$(wc -l <"$work/errors") errors"
	[ ! -s "$work/errors" ]
}

trap 'touch "$work/stop"' INT TERM HUP
if [ "${SOAK_APART:-}" = "" ] && [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
	SOAK_APART=1 exec unshare -n "$0" -t "$seconds" -e "$every" -r "$rate" -o "$work" "$build"
fi
run
