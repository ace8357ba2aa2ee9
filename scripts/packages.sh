#!/bin/bash
# packages.sh deb|rpm [DIR]: build packages from a clean copy of the last commit into DIR [build-packages].
# "deb-twice" builds Debian's twice, in different directories, and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-deb}
out=$(realpath -m "${2:-build-packages}")
version=$(sed -n "s/^ *version: '\([0-9.]*\)'.*/\1/p" meson.build | head -1)
mkdir -p "$out"

# copy DIR: copy the committed tree, and nothing else, to DIR/limpet-VERSION.
copy() {
	mkdir -p "$1"
	git archive --format=tar --prefix="limpet-$version/" HEAD | tar -x -C "$1"
}

# The build dependencies of the packages on Debian.
[[ $what != deb* ]] || scripts/deps.sh package

command -v npm >/dev/null || echo "packages.sh: npm is not installed: the collector will have no page" >&2

deb() { # deb DIR: build in DIR, which then has the packages
	copy "$1"
	[ "$(dpkg-parsechangelog -l "$1/limpet-$version/debian/changelog" -S Version | sed 's/-.*//')" = "$version" ] || {
		echo "packages.sh: debian/changelog is not about version $version" >&2
		exit 1
	}
	(cd "$1/limpet-$version" && dpkg-buildpackage -b -us -uc)
}

case $what in
deb)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	deb "$work"
	cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out"
	;;
deb-twice)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	deb "$work/a"
	deb "$work/some/other/place"
	differ=0
	for package in "$work"/a/*.deb; do
		cmp "$package" "$work/some/other/place/$(basename "$package")" || differ=1
	done
	cp "$work"/a/*.deb "$work"/a/*.changes "$work"/a/*.buildinfo "$out"
	[ $differ = 0 ] || exit 1
	echo "both builds gave the same bytes"
	;;
rpm)
	command -v rpmbuild >/dev/null || {
		echo "packages.sh: rpmbuild is not installed (package rpm-build, or rpm on Debian)" >&2
		exit 1
	}
	top=$(mktemp -d)
	trap 'rm -rf "$top"' EXIT
	mkdir -p "$top/SOURCES"
	git archive --format=tar.gz --prefix="limpet-$version/" -o "$top/SOURCES/limpet-$version.tar.gz" HEAD
	rpmbuild -bb --nodeps --define "_topdir $top" --define "limpet_version $version" packaging/limpet.spec
	cp "$top"/RPMS/*/*.rpm "$out"
	;;
*)
	echo "usage: packages.sh deb|deb-twice|rpm [DIR]" >&2
	exit 2
	;;
esac
ls -l "$out"
