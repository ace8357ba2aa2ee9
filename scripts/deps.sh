#!/bin/bash
# deps.sh [demo|build|package|test|all]: install the Debian packages that limpet needs and that are missing.
# "demo" is the minimum for building `limpet diagnose`; "build" is for all features, and "package" also
# for building Debian packages. Does nothing, quickly, if all of them are installed.
set -euo pipefail

demo=(
	gcc libc6-dev make meson ninja-build pkg-config # the tool chain
	libzstd-dev	# compression of archive blocks
	zlib1g-dev	# compressed files of other tools
	libjansson-dev	# JSON output
	libcyaml-dev libyaml-dev # YAML configuration; its lines
	libmnl-dev	# sock_diag
	libsqlite3-dev	# the operator's statements about components
)
build=(
	"${demo[@]}"
	libfuse3-dev	# the lab's disks
	libelf-dev liblzma-dev libiberty-dev # names of functions: symbols, packed ones, of C++
	libdw-dev                            # lines of source files, as regions of limpet stack
	libsnappy-dev	# remote write
	libmicrohttpd-dev libcurl4-gnutls-dev # the collector, and servers that send to it
	libbpf-dev clang # tracing in the kernel: to load and to compile programs
)
package=(
	"${build[@]}"
	build-essential             # dpkg-buildpackage requires it
	debhelper dpkg-dev fakeroot # dpkg-buildpackage and what it calls
	git                         # packages are built from the last commit
	python3 systemd             # embed files; where units go
)
test=(
	clang libclang-rt-14-dev llvm	# second compiler, sanitizers, symbols in their reports
	libomp-dev			# its OpenMP
	clang-format clang-tidy cppcheck # lint
	ccache				# avoids compiling the same source again
	libcmocka-dev			# unit tests
	g++				# the installed headers are for C++, too
	python3				# test drivers
	git				# lint looks at tracked files
	sysstat				# sadc makes the files that the importer must read
	strace				# shows the system calls of the sampling loop
	iproute2 nftables		# network namespaces and lossy links
	util-linux mount e2fsprogs	# loop devices, small file systems
	xz-utils			# benchmark baseline
	python3-numpy			# benchmark baseline
	tzdata				# times of other zones
	libpcp3-dev python3-pcp		# archives of PCP; makes some
	collectl			# makes files that the importer must read
	zstd				# the format test decompresses with it
	openssl ca-certificates		# certificates for tests of TLS
	curl				# queries a collector as its users do
	man-db				# man pages must render
	systemd				# systemd-analyze checks the unit
	chromium			# opens the HTML report
	glusterfs-server glusterfs-client fuse3 # the lab's file system and disks
	moosefs-master moosefs-chunkserver moosefs-client # another file system of the lab, 1 MB
	ethtool procps kmod fio postmark # the lab's links and workloads
	xfsprogs			# tracing is measured on it
	libopenmpi-dev openmpi-bin	# the layer of MPI-IO, and programs that use it
	libmpich-dev mpich gfortran	# the same with the other MPI library, and in Fortran
	prometheus prometheus-node-exporter victoria-metrics # servers to read data from
	prometheus-alertmanager		# alerts are sent to it
	libhdf5-openmpi-dev libpnetcdf-dev # programs that use HDF5 and PnetCDF
)
# Node.js drives the browser, and builds the page of limpet serve; versions other than Debian's will do.
command -v node >/dev/null || test+=(nodejs)
command -v npm >/dev/null || test+=(npm)

case ${1:-all} in
demo) want=("${demo[@]}") ;;
build) want=("${build[@]}") ;;
package) want=("${package[@]}") ;;
test | all) want=("${build[@]}" "${test[@]}") ;;
*)
	echo "usage: deps.sh [demo|build|package|test|all]" >&2
	exit 2
	;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	cat >&2 <<-END
		This is not a Debian system (no apt-get), so nothing was installed.
		Install what these Debian 12 packages contain and try again:
		  ${want[*]}
	END
	# A user who already has the tools may continue.
	for tool in meson ninja cc; do
		command -v "$tool" >/dev/null || exit 1
	done
	exit 0
fi

# dpkg-query fails if one of them is unknown, but still lists the others.
known=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${want[@]}" 2>/dev/null || true)
installed=" $(sed -n 's/^installed //p' <<<"$known" | tr '\n' ' ') "
missing=()
for package in "${want[@]}"; do
	[[ $installed == *" $package "* ]] || missing+=("$package")
done
# pcp starts its services when it is installed, and cannot be installed without systemd. Its files alone are enough for
# tests/e2e/pcp_live.py.
pcp=/opt/limpet-tests/pcp
want_pcp=false
[ "${1:-all}" = demo ] || [ "${1:-all}" = build ] || [ -e /usr/lib/pcp/bin/pmcd ] ||
	[ -e $pcp/usr/lib/pcp/bin/pmcd ] || want_pcp=true
[ ${#missing[@]} -gt 0 ] || $want_pcp || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "These packages are missing and there is no sudo; as root, run:" >&2
		echo "  apt-get install ${missing[*]}" >&2
		exit 1
	fi
	as_root=(sudo)
fi

apt() {
	# The system's own updates may hold the lock for a while.
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 \
		-o Acquire::Retries=3 "$@" </dev/null
}
apt update
if $want_pcp; then
	echo "unpacking pcp into $pcp"
	dir=$(mktemp -d)
	(cd "$dir" && apt-get -q download pcp libpcp-archive1 libpcp-trace2 libpcp-web1) &&
		"${as_root[@]}" mkdir -p $pcp &&
		for package in "$dir"/*.deb; do "${as_root[@]}" dpkg-deb -x "$package" $pcp; done ||
		echo "pcp could not be unpacked: its test will be skipped" >&2
	rm -rf "$dir"
	[ ${#missing[@]} -gt 0 ] || exit 0
fi
echo "installing: ${missing[*]}"
apt install -y --no-install-recommends "${missing[@]}"

# only_programs PACKAGE UNIT...: keep only the programs of a package that was just installed, not its services:
# sysstat's own collection, which Debian enables, and GlusterFS's daemon, which Debian leaves to the administrator.
only_programs() {
	[[ " ${missing[*]} " == *" $1 "* ]] && command -v systemctl >/dev/null || return 0
	shift
	"${as_root[@]}" systemctl --quiet disable "$@" || true
	[ ! -d /run/systemd/system ] || "${as_root[@]}" systemctl --quiet stop "$@" || true
}
only_programs sysstat sysstat.service sysstat-collect.timer sysstat-summary.timer
only_programs prometheus prometheus.service
only_programs prometheus-node-exporter prometheus-node-exporter.service
only_programs prometheus-alertmanager prometheus-alertmanager.service
only_programs victoria-metrics victoria-metrics.service
only_programs collectl collectl.service
only_programs moosefs-master moosefs-master.service
only_programs moosefs-chunkserver moosefs-chunkserver.service
only_programs glusterfs-server glusterd.service glustereventsd.service
