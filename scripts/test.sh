#!/bin/bash
# test.sh: build and test everything, and say how many test cases passed.
#
#   build/       gcc, as it is shipped            every test
#   build-asan/  clang, address and undefined     every test except those that tests/*/meson.build reserves
#                                                 for the shipped build
#   build-tsan/  clang, threads                   the tests of suite 'threads'; nothing else is built
#   lint         format, includes, house rules, clang-tidy, cppcheck
#
# Tests of suites 'machine' and 'lab' take real time and little CPU. They run in the foreground, one
# build after the other, side by side except those of suite 'alone'. Everything that only computes runs
# in the background, at low priority, which labs ignore when they judge how busy the machine is. The
# results of the background are printed when both have ended.
#
# A test of those suites, or another of suite 'e2e' or 'web', that fails is run once more when
# everything else has ended: a machine that was too busy for it must not look like a defect. One that
# passes then is listed as unsteady.
#
# The last line is "N passed, N failed" or "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
exec </dev/null

export ASAN_OPTIONS=detect_leaks=1:${ASAN_OPTIONS:-}
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}
# OpenMP's runtime is not instrumented, and its internals would look like races.
export TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}
# The sanitizers of clang 14 cannot cope with the many random address bits of newer kernels.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
	fixed_addresses=(setarch -R)
fi
jobs=${JOBS:-$(nproc)}
second_chances=5	# with more failures it is not the machine
labs_at_once=2		# more, and they wait for each other's CPU time
state=build-test	# messages between the two sides
front='' behind=''	# process groups

# Labs are kept in a directory of this run. Killed tests and killed runs leave labs behind.
lab_root=/run/limpet
remove_labs() {
	local dir

	for dir in "$lab_root"/test-*; do
		[ -d "$dir" ] || continue
		# Does it belong to another run that is still active?
		if [ "${dir##*-}" != $$ ] && kill -0 "${dir##*-}" 2>/dev/null; then
			continue
		fi
		LIMPET_LAB_DIR=$dir build/src/cli/limpet lab down --all && rmdir "$dir"
	done
}

# finish: when this script ends for any reason, leave no process and no file behind.
finish() {
	local status=$? group

	trap - EXIT INT TERM HUP
	for group in $front $behind; do
		kill -TERM -- "-$group" 2>/dev/null
	done
	for group in $front $behind; do # meson ends its tests before it ends
		timeout 20 sh -c "while kill -0 -- -$group; do sleep 0.1; done" 2>/dev/null
	done
	[ "$(id -u)" -ne 0 ] || remove_labs
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# build NAME DIR [MESON OPTION...]: build, and write the word "built" or "failed" to $state/NAME.
build() {
	local name=$1 dir=$2 word=built

	echo "== $name: build"
	shift
	if ! scripts/build.sh "$@"; then
		echo "== $name: the build failed"
		word=failed
	fi
	echo "$word" >"$state/$name.part"
	mv "$state/$name.part" "$state/$name"
	[ $word = built ]
}

# run_tests NAME DIR LOG PROCESSES MESON-ARGUMENT...: run some of the tests; the log is DIR/meson-logs/testlog-LOG.json.
run_tests() {
	local name=$1 dir=$2 log=$3 processes=$4 environment=()

	# The leak sanitizer examines all threads when a program ends, and sometimes crashes while those of OpenMP end,
	# too. The thread sanitizer is for threads.
	[ "$name" != asan ] || environment=(env OMP_NUM_THREADS=1)
	shift 4
	echo "== $name: test ($log)"
	"${environment[@]}" "${fixed_addresses[@]}" meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 3 \
		--logbase "testlog-$log" --num-processes "$processes" "$@" ||
		echo "== $name: meson test says no ($?)"
}

computed() {
	run_tests "$1" "$2" computed "$jobs" --no-suite machine --no-suite lab
}

in_real_time() {
	run_tests "$1" "$2" machine "$jobs" --suite machine --no-suite alone >"$state/$1-machine.log" 2>&1 &
	run_tests "$1" "$2" lab "$labs_at_once" --suite lab --no-suite alone
	wait
	cat "$state/$1-machine.log"
	run_tests "$1" "$2" alone 1 --suite alone
}

run_front() {
	set +m # one process group, with all that it starts
	[ "$(cat $state/gcc)" != built ] || in_real_time gcc build
	while [ ! -e $state/asan ] && kill -0 "$behind" 2>/dev/null; do
		sleep 1
	done
	[ "$(cat $state/asan)" != built ] || in_real_time asan build-asan
}

run_behind() {
	set +m
	[ "$(nice)" -ge 10 ] || renice -n 10 -p $BASHPID >/dev/null
	CC=clang build asan build-asan -Db_sanitize=address,undefined -Db_lundef=false
	[ "$(cat $state/gcc)" != built ] || computed gcc build
	[ "$(cat $state/asan)" != built ] || computed asan build-asan
	TARGETS=$(scripts/suite.py build-asan threads) CC=clang build tsan build-tsan -Db_sanitize=thread \
		-Db_lundef=false && run_tests tsan build-tsan computed "$jobs" --suite threads
	echo "== lint"
	JOBS=$jobs scripts/lint.sh | tee $state/lint.tap
}

# again NAME DIR: repeat failed tests that depend on real time.
again() {
	local name=$1 dir=$2 tests

	[ "$(cat "$state/$name" 2>/dev/null)" = built ] || return
	mapfile -t tests < <(scripts/tally.py --failed "$dir" machine lab e2e web)
	if [ ${#tests[@]} -gt 0 ] && [ ${#tests[@]} -le $second_chances ]; then
		run_tests "$name" "$dir" second 1 "${tests[@]}"
	fi
}

# The arguments of tally.py: NAME=DIR, or NAME=failed if the build failed.
results() {
	local name dir suite

	while read -r name dir suite; do
		if [ "$(cat "$state/$name" 2>/dev/null)" = built ]; then
			echo "$name=$dir${suite:+:$suite}"
		else
			echo "$name=failed"
		fi
	done <<-END
		gcc build
		asan build-asan
		tsan build-tsan threads
	END
	echo "lint=$state/lint.tap"
}

if [ "$(id -u)" -eq 0 ] && mkdir -p "$lab_root/test-$$"; then
	export LIMPET_LAB_DIR=$lab_root/test-$$
fi
rm -rf $state build*/meson-logs/testlog*.json
mkdir -p $state
build gcc build
set -m # each side is a process group of its own
run_behind >$state/behind.log 2>&1 &
behind=$!
run_front &
front=$!
set +m
wait $front
front=
wait $behind
behind=
cat $state/behind.log
again gcc build
again asan build-asan
trap - EXIT # the count is the last that is said
[ "$(id -u)" -ne 0 ] || remove_labs
mapfile -t arguments < <(results)
scripts/tally.py "${arguments[@]}"
