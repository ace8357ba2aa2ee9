#!/bin/bash
# fuzz.sh [TARGET...]: run fuzz targets (all, unless named) RUNS times each, several at a time.
# New inputs are kept in build-fuzz/corpus/TARGET; a crash leaves its input in build-fuzz/crashes.
# SANITIZE=none runs them without sanitizers, several times as fast, in build-fuzz-plain.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUNS=${RUNS:-1000000}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export OMP_NUM_THREADS=1 # inputs are small; several targets run at once
export DIR=build-fuzz TARGETS=fuzz-programs
if [ "${SANITIZE:-}" = none ]; then
	DIR=build-fuzz-plain
	CC=clang scripts/build.sh "$DIR" -Dfuzz=true -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link
else
	CC=clang scripts/build.sh "$DIR" -Dfuzz=true -Db_sanitize=address,undefined \
		-Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link
fi

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
	for exe in "$DIR"/tests/fuzz/fuzz_*; do
		[ -f "$exe" ] && [ -x "$exe" ] && targets+=("${exe##*/fuzz_}")
	done
fi
if [ ${#targets[@]} -eq 0 ]; then
	echo "no fuzz targets"
	exit 0
fi

fuzz_one() {
	local name=$1 log=$DIR/fuzz_$1.log
	local cmd=("$DIR/tests/fuzz/fuzz_$name" -runs="$RUNS" -timeout=20 -rss_limit_mb=1024
		-artifact_prefix="$DIR/crashes/$name"- -print_final_stats=1
		"$DIR/corpus/$name" "tests/fuzz/corpus/$name")

	[ ! -f "tests/fuzz/$name.dict" ] || cmd+=("-dict=tests/fuzz/$name.dict")
	# Data of one minute and few components shows as much as data of six minutes, in a quarter of the time.
	[ "$name" != content ] || cmd+=(-max_len=512)
	mkdir -p "$DIR/crashes" "$DIR/corpus/$name"
	if "${cmd[@]}" >"$log" 2>&1 </dev/null; then
		sed -n "s/^stat::number_of_executed_units: */$name: executions /p" "$log"
	else
		tail -n 60 "$log"
		echo "$name: CRASHED, see $log and $DIR/crashes/"
		return 1
	fi
}
export -f fuzz_one
printf '%s\n' "${targets[@]}" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'fuzz_one {}'
