#!/bin/bash
# test.sh: build and test everything, and say how many test cases passed.
#
#   build/       gcc, as it is shipped            the whole suite
#   build-asan/  clang, address and undefined     the whole suite again
#   build-tsan/  clang, threads                   the tests of suite 'threads'
#   lint         format, includes, house rules, clang-tidy, cppcheck
#
# The last line is "N passed, N failed" or "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
exec </dev/null

export ASAN_OPTIONS=detect_leaks=1:${ASAN_OPTIONS:-}
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}
# What OpenMP's runtime does inside is not instrumented and would look like races.
export TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}
# The sanitizers of clang 14 cannot cope with the many random address bits of newer kernels.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
	fixed_addresses=(setarch -R)
fi
results=() # arguments of tally.py: NAME=DIR, NAME=FILE.tap or NAME=failed (to build)

# build_and_test NAME DIR SUITE [MESON OPTION...]: SUITE is empty for all tests.
build_and_test() {
	local name=$1 dir=$2 suite=$3
	shift 3
	echo "== $name: build"
	if ! scripts/build.sh "$dir" "$@"; then
		echo "== $name: the build failed"
		results+=("$name=failed")
		return
	fi
	echo "== $name: test"
	rm -f "$dir/meson-logs/testlog.json"
	"${fixed_addresses[@]}" meson test -C "$dir" --no-rebuild --print-errorlogs \
		--timeout-multiplier 3 ${suite:+--suite "$suite"} ||
		echo "== $name: meson test says no ($?)"
	results+=("$name=$dir")
}

has_threads_suite() {
	meson introspect --tests build-asan 2>/dev/null | grep -q '"limpet:threads"'
}

build_and_test gcc build ''
CC=clang build_and_test asan build-asan '' \
	-Db_sanitize=address,undefined -Db_lundef=false
if has_threads_suite; then
	CC=clang build_and_test tsan build-tsan threads -Db_sanitize=thread -Db_lundef=false
fi

echo "== lint"
mkdir -p build
scripts/lint.sh | tee build/lint.tap
results+=("lint=build/lint.tap")

scripts/tally.py "${results[@]}"
