# The common part of workloads. A script consists of this file, the workload's own, and a call of
# work_prepare or work_passes. It must run in any /bin/sh.
#
# A workload can use these variables: CLIENT (1, 2, ...), CLIENTS and SERVERS (their numbers), MIB
# (the size of large files), SEED, PASS (1, 2, ...; 0 during preparation), WORK_DIR (its directory
# on the parallel file system, where it begins), BRICKS (where servers keep their files on this
# machine) and LIST.
#
# Large files are read and written in pieces of 4 MB. Each piece is a separate file, and every
# server has the same number of them: a file system that places files by hash would permanently give
# some servers more than others, and comparing servers would show that difference. The list of
# pieces (LIST, outside of the file system) has lines "ROUND NAME"; a round has one piece on each
# server.

# A workload defines pass, which is repeated, and if necessary prepare, which runs once before.
prepare() {
	:
}

# Prepare, in the workload's directory. Here and below, a failing command ends the script.
work_prepare() {
	set -e
	mkdir -p "$WORK_DIR"
	cd "$WORK_DIR"
	prepare
}

# Run passes, one after the other, until the workload is stopped. All run in the same shell: a
# failing command ends it, and workload_verify() detects that.
work_passes() {
	set -e
	mkdir -p "$WORK_DIR"
	cd "$WORK_DIR"
	PASS=0
	while PASS=$((PASS + 1)); do
		pass
	done
}

# server_of FILE NUMBER: print the server that has the file, from 0. If bricks do not show files,
# the file system stripes them itself, and any server will do.
server_of() {
	k=0
	for b in $BRICKS; do
		if [ -f "$b/${PWD##*/}/$1" ]; then
			echo $k
			return
		fi
		k=$((k + 1))
	done
	echo $(($2 % SERVERS))
}

# pieces: create empty pieces until each server has one per round, and write the list.
pieces() {
	if [ -s "$LIST" ]; then
		return
	fi
	rounds=$((MIB / 4 / SERVERS)) i=0 found=0
	if [ $rounds -lt 1 ]; then
		rounds=1
	fi
	: >"$LIST.new"
	while [ $found -lt $((rounds * SERVERS)) ]; do
		i=$((i + 1))
		if [ $i -gt $((100 * rounds * SERVERS)) ]; then
			echo 'a server gets no files' >&2
			return 1
		fi
		: >piece.$i
		s=$(server_of piece.$i $i)
		eval "n=\$((\${n_$s:-0} + 1))"
		if [ $n -gt $rounds ]; then
			rm piece.$i
			continue
		fi
		eval "n_$s=$n"
		found=$((found + 1))
		echo "$n piece.$i" >>"$LIST.new"
	done
	sort -n "$LIST.new" >"$LIST.sorted"
	rm "$LIST.new"
	mv "$LIST.sorted" "$LIST"
}

# order [ROUNDS]: print the names for a pass over this many rounds, or all. The order of rounds
# differs each time, and so does the order of servers in a round, so that clients do not run in
# step.
order() {
	awk -v seed=$((SEED + CLIENT * 1009 + PASS * 31)) '
	BEGIN { srand(seed) }
	!($1 in key) { key[$1] = rand() }
	{ print key[$1], rand(), $2 }' "$LIST" | sort -n -k1,1 -k2,2 |
		awk -v most="${1:-0}" '
	$1 != last { rounds++; last = $1 }
	most && rounds > most { exit }
	{ print $3 }'
}

# fill: write pieces that are missing or incomplete.
fill() {
	for f in $(order); do
		size=$(stat -c %s $f 2>/dev/null || echo 0)
		if [ $size -lt 4194304 ]; then
			dd if=/dev/zero of=$f bs=4M count=1 oflag=direct status=none
		fi
	done
}

# write_pieces [ROUNDS]: write in a pass.
write_pieces() {
	for f in $(order "$@"); do
		dd if=/dev/zero of=$f bs=4M count=1 oflag=direct conv=notrunc status=none
	done
}

# read_pieces [ROUNDS]: the same for reading.
read_pieces() {
	for f in $(order "$@"); do
		dd if=$f of=/dev/null bs=4M iflag=direct status=none
	done
}

# fio_half write|read NAMES: process the pieces with these names, separated by colons.
fio_half() {
	fio --output=/dev/null --name=half --rw=$1 --bs=4m --filesize=4m --direct=1 \
		--ioengine=psync --end_fsync=1 --fallocate=none --allow_file_create=0 \
		--file_service_type=sequential --thread --filename="$2"
}

# iozone_pass write|read TEST: run a pass of IOzone's test 0 (write, rewrite) or 1 (read, reread),
# with an fsync at the end of each half. iozone needs one large file; fio uses the pieces.
iozone_pass() {
	if command -v iozone >/dev/null; then
		if [ $2 = 1 ] && [ ! -f iozone.file ]; then
			iozone -i 0 -w -e -I -r 4m -s ${MIB}m -f iozone.file >/dev/null
		fi
		iozone -i $2 -w -e -I -r 4m -s ${MIB}m -f iozone.file >/dev/null
		return
	fi
	names=$(order $((2 + (CLIENT + PASS) % 3)) | tr '\n' ':')
	fio_half $1 "${names%:}"
	fio_half $1 "${names%:}"
}

# mail NUMBER TRANSACTIONS: run PostMark, each time with other random numbers. It writes without
# O_DIRECT, and deletes most of its data before a server would write that to its disk. So servers
# are made to write its files synchronously (chattr +S, which is inherited), and also GlusterFS's
# list of files to delete (which exists after the first deletion).
mail() {
	mkdir -p mail
	: >deleted
	rm deleted
	for b in $BRICKS; do
		for d in ${PWD##*/}/mail .shard/.remove_me; do
			if [ -d $b/$d ]; then
				chattr +S $b/$d
			fi
		done
	done
	rm -rf mail/*
	postmark >/dev/null <<-END
	set location mail
	set size 4096 65536
	set number $1
	set transactions $2
	set read 65536
	set write 65536
	set buffering false
	set subdirectories 8
	set seed $((SEED + CLIENT * 1009 + PASS * 31))
	set report terse
	run
	quit
	END
}
