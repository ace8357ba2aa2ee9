#!/bin/bash
# run.sh NAME: install what NAME.mjs needs (npm ci, once per build directory) and run it; speaks TAP.
# $BUILD and $SOURCE are the build directory and the sources.
set -uo pipefail

work=$BUILD/tests/web/browser
mkdir -p "$work" && cd "$work" || exit 3
cp "$SOURCE"/tests/web/{package.json,package-lock.json,*.mjs} . || exit 3

# cannot WHY: the test has failed before it began.
cannot() {
	echo "1..1"
	echo "not ok 1 - the browser test can run"
	echo "# $1"
	exit 1
}

command -v node >/dev/null && command -v npm >/dev/null ||
	cannot "node and npm are needed: run scripts/deps.sh"
# Two tests must not install at the same time.
exec 9>lock && flock 9 || exit 3
if ! cmp -s package-lock.json installed-lock.json; then
	npm ci --no-audit --no-fund >npm.log 2>&1 || {
		sed 's/^/# /' npm.log
		cannot "npm ci failed (is there a network, or a cache that has playwright-core?)"
	}
	cp package-lock.json installed-lock.json
fi
flock -u 9
exec node "$1.mjs"
