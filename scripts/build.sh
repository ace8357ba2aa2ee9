#!/bin/bash
# build.sh DIR [MESON OPTION...]: configure DIR with meson (once, or again if the options changed or
# an earlier attempt failed) and build it. CC chooses the compiler [gcc], which runs through ccache
# if that is installed; TARGETS is what to build [all].
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$1
shift
export CC=${CC:-gcc}
for tool in "$CC" meson ninja pkg-config; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is not installed: run 'make deps' first" >&2
		exit 1
	fi
done

# Is DIR configured with exactly these options? A directory that was configured by hand is used as
# it is, unless options are given.
configured() {
	[ -f "$dir/build.ninja" ] || return 1
	if [ -f "$dir/.options" ]; then
		[ "$(cat "$dir/.options")" = "$want" ]
	else
		[ "$want" = "gcc " ]
	fi
}

want="$CC $*"
! command -v ccache >/dev/null || CC="ccache $CC"
if ! configured; then
	rm -rf "$dir"
	if ! log=$(meson setup "$dir" "$@" 2>&1); then
		printf '%s\n' "$log" "Configuring failed: if a dependency is missing, run 'make deps'." >&2
		exit 1
	fi
	printf '%s\n' "$want" >"$dir/.options"
fi
read -ra targets <<<"${TARGETS:-}"
exec ninja -C "$dir" -j "${JOBS:-$(nproc)}" --quiet "${targets[@]}"
