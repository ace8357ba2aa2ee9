#!/bin/bash
# types.sh: the page of limpet serve has no type errors. Building it only removes the types. $BUILD is
# the build directory, where the page's sources and packages are; speaks TAP.
set -uo pipefail

echo "1..1"
cd "$BUILD/src/serve/page" && found=$(node node_modules/typescript/bin/tsc --noEmit -p . 2>&1)
if (($? == 0)); then
	echo "ok 1 - the page's types are right"
else
	echo "not ok 1 - the page's types are right"
	echo "${found:-the page was not built}" | sed 's/^/# /'
	exit 1
fi
