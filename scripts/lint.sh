#!/bin/bash
# lint.sh: all static checks of the sources, as TAP.
# Needs a configured build/ (clang-tidy reads its compile_commands.json). DEEP=1 removes the limits
# of clang-tidy (scripts/tidy.py).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

jobs=${JOBS:-$(nproc)}
mapfile -t sources < <(scripts/sources.sh)
mapfile -t units < <(printf '%s\n' "${sources[@]}" | grep '\.c$')
number=0 failed=0

# check TITLE COMMAND...: print one TAP line, then the output of the command as diagnostics.
check() {
	local title=$1 output status
	shift
	number=$((number + 1))
	output=$("$@" 2>&1)
	status=$?
	if [ $status -eq 0 ]; then
		echo "ok $number - $title"
	else
		echo "not ok $number - $title"
		failed=1
	fi
	[ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/# /'
}

check_format() {
	printf '%s\0' "${sources[@]}" | xargs -0 -P "$jobs" -n 50 clang-format --dry-run -Werror
}

# memleak, resourceLeak: it does not know __attribute__((cleanup)); the sanitizers check these.
# readdirCalled: readdir_r() is the one that is deprecated.
# *.bpf.c: programs for another processor, without a libc.
# route_page.c: it contains the page as an array of bytes, which takes minutes.
# shiftTooManyBitsSigned: gcc and clang define >> of negative numbers, zigzag() relies on it.
check_cppcheck() {
	mkdir -p build/cppcheck
	cppcheck --quiet -j "$jobs" --cppcheck-build-dir=build/cppcheck --std=c11 --inline-suppr \
		--enable=warning,performance,portability --error-exitcode=1 \
		--suppress=shiftTooManyBitsSigned --suppress=memleak --suppress=resourceLeak \
		--suppress=readdirCalled \
		--library=posix --library=gnu -D_GNU_SOURCE -D__linux__ -DLIMPET_VERSION='""' \
		-I. -Iinclude -Isrc -Ibuild/src -Itests/unit -Itests/fuzz \
		$(printf '%s\n' "${units[@]}" | grep -E '^(src|bench)/' | grep -vE '\.bpf\.c$|/route_page\.c$')
}

check_scripts() {
	local script scripts

	scripts=$(find . -path './build*' -prune -o \( -name '*.sh' -o -name '*.py' \) -print)
	for script in .ci/run $scripts; do
		case $script in
		*.py) python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$script" ;;
		./src/lab/workloads/*) sh -n "$script" ;; # run by any sh
		*) bash -n "$script" ;;
		esac || { echo "in $script" && return 1; }
	done
}

echo "1..7"
check "clang-format" check_format
check "include direction, headers alone" scripts/check-includes.py
check "house rules" scripts/check-house.py
check "every parser has a fuzz target" scripts/check-fuzz.py
check "scripts parse" check_scripts
check "cppcheck" check_cppcheck
check "clang-tidy" scripts/tidy.py --jobs "$jobs" ${DEEP:+--deep}
exit $failed
