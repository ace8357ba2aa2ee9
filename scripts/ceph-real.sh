#!/bin/bash
# ceph-real.sh: does the collector `ceph` record the values of real OSDs? Starts Debian's ceph-mon and three ceph-osd in
# a separate directory, writes to them, records, and compares with "perf dump". Takes a minute, and needs the packages
# ceph-mon, ceph-osd and ceph-common (210 MB), but not root. It is not part of `make test` because of these packages.
set -euo pipefail
cd "$(dirname "$0")/.."

limpet=$(realpath "${LIMPET:-build/src/cli/limpet}")
dir=$(mktemp -d /tmp/limpet-ceph-XXXXXX) # sockets have short paths
finish() {
	for pid in "$dir"/log/*.pid; do
		[ ! -s "$pid" ] || kill -KILL "$(cat "$pid")" 2>/dev/null || true
	done
	rm -rf "$dir"
}
trap finish EXIT
mkdir -p "$dir"/{var/run/ceph,proc,mon,osd0,osd1,osd2,log}
fsid=$(cat /proc/sys/kernel/random/uuid)
port=$((20000 + RANDOM % 20000))
cat >"$dir/ceph.conf" <<-END
	[global]
	fsid = $fsid
	mon_host = v2:127.0.0.1:$port,v1:127.0.0.1:$((port + 1))
	auth_cluster_required = none
	auth_service_required = none
	auth_client_required = none
	osd_pool_default_size = 2
	osd_pool_default_min_size = 1
	osd_crush_chooseleaf_type = 0
	admin_socket = $dir/var/run/ceph/\$cluster-\$name.asok
	log_file = $dir/log/\$name.log
	pid_file = $dir/log/\$name.pid
	osd_objectstore = bluestore
	bluestore_block_size = 2147483648
	mon_data = $dir/mon
	osd_data = $dir/osd\$id
	public_addr = 127.0.0.1
END
ceph() { timeout 60 /usr/bin/ceph -c "$dir/ceph.conf" "$@"; }
monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$port,v1:127.0.0.1:$((port + 1))]" "$dir/monmap" >/dev/null
ceph-mon -c "$dir/ceph.conf" --mkfs -i a --monmap "$dir/monmap"
ceph-mon -c "$dir/ceph.conf" -i a
for i in 0 1 2; do
	uuid=$(cat /proc/sys/kernel/random/uuid)
	ceph osd new "$uuid" >/dev/null
	ceph-osd -c "$dir/ceph.conf" -i $i --mkfs --osd-uuid "$uuid" >/dev/null 2>&1
	ceph osd crush add osd.$i 1 host=h root=default >/dev/null 2>&1
	ceph-osd -c "$dir/ceph.conf" -i $i >/dev/null 2>&1
done
ceph osd pool create p 8 >/dev/null 2>&1
timeout 60 rados -c "$dir/ceph.conf" -p p bench 5 write -b 65536 -t 4 >/dev/null
# Writing has ended, so the recorded values and the queried ones are the same.
"$limpet" record --root "$dir" --collect ceph --name h --interval 1s --duration 6s -o "$dir/data" --quiet
wrong=0
for i in 0 1 2; do
	said=$(ceph --admin-daemon "$dir/var/run/ceph/ceph-osd.$i.asok" perf dump |
		python3 -c 'import json, sys; d = json.load(sys.stdin)["osd"]; print(d["op_latency"]["avgcount"], d["op_in_bytes"])')
	recorded=$("$limpet" show --raw -m ops,wr_bytes --csv "$dir/data" | awk -F, -v osd="h/osd:osd.$i" \
		'$2 == osd { v[$3] = $4 } END { printf "%.0f %.0f\n", v["ops"], v["wr_bytes"] }')
	echo "osd.$i says $said, recorded is $recorded"
	[ "$said" = "$recorded" ] && [ "${said%% *}" -gt 0 ] || wrong=1
done
[ $wrong = 0 ] && echo "the same"
exit $wrong
