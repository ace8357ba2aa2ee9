#!/bin/bash
# arm64.sh [TEST...]: build limpet for arm64 with Debian's cross compiler into build-arm64/, and run its unit
# tests (all, or those named) under qemu. "arm64.sh --deps" installs the packages for that, as root. It
# makes arm64 a foreign architecture of this system's dpkg, so it is better to run it in a chroot or a container:
#
#   debootstrap bookworm DIR && mount --bind . DIR/mnt && chroot DIR bash -c 'cd /mnt && scripts/arm64.sh --deps'
#
# It takes many times as long as the tests on this machine, so it is not part of "make test".
set -euo pipefail
cd "$(dirname "$0")/.."

triplet=aarch64-linux-gnu
tools=(gcc libc6-dev gcc-$triplet qemu-user-static meson ninja-build pkgconf python3 clang)
libraries=(libc6-dev libgomp1 libzstd-dev zlib1g-dev libjansson-dev libcyaml-dev libyaml-dev libmnl-dev libsqlite3-dev
	libfuse3-dev libelf-dev liblzma-dev libiberty-dev libdw-dev libsnappy-dev libmicrohttpd-dev
	libcurl4-gnutls-dev libbpf-dev libcmocka-dev)

if [ "${1:-}" = --deps ]; then
	dpkg --add-architecture arm64
	apt-get -q update
	exec apt-get -q install -y --no-install-recommends "${tools[@]}" "${libraries[@]/%/:arm64}"
fi
for tool in $triplet-gcc qemu-aarch64-static meson; do
	command -v "$tool" >/dev/null || {
		echo "$tool is not installed: run 'scripts/arm64.sh --deps' as root, in a chroot" >&2
		exit 1
	}
done

dir=build-arm64
mkdir -p $dir
cat >$dir/cross.ini <<END
[binaries]
c = [$(! command -v ccache >/dev/null || echo "'ccache', ")'$triplet-gcc']
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static']

[properties]
pkg_config_libdir = '/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
[ -f $dir/build.ninja ] ||
	meson setup $dir --cross-file $dir/cross.ini -Dwerror=false -Dpage=disabled -Dmpi=disabled \
		-Dpcp=disabled
read -ra programs <<<"$(scripts/suite.py $dir unit)"
ninja -C $dir -j "${JOBS:-$(nproc)}" --quiet "${programs[@]}"
status=0
meson test -C $dir --no-rebuild --print-errorlogs --timeout-multiplier 20 --suite unit "$@" || status=$?
[ $# -eq 0 ] || exit $status
# To meson, a skipped case has failed.
exec scripts/tally.py arm64=$dir:unit
