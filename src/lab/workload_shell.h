/* Shell functions that workloads share, as text to put before their scripts.
 *
 * Large files are worked on in pieces of 4 MB, each a file of its own, of which every server has
 * the same number: a file system that places by hash would give one server more than another for
 * as long as the files live, which is what a comparison of servers must not see. The list of pieces
 * (LIST, outside of the file system) has lines "ROUND NAME"; a round has one piece on each server.
 *
 * Besides the variables of workload.h there are LIST, SERVERS (how many), BRICKS (where servers
 * keep their files on this machine) and PASS (1, 2, ...: how often the loop was begun). */
#ifndef LAB_WORKLOAD_SHELL_H
#define LAB_WORKLOAD_SHELL_H

/* pieces: make empty ones, until each server has ROUNDS of them, and the list.
 * A file system whose bricks do not show files stripes them itself: then any will do. */
#define SHELL_PIECES                                                                               \
	"server_of() {\n"                                                                          \
	"	k=0\n"                                                                                   \
	"	for b in $BRICKS; do\n"                                                                  \
	"		if [ -f \"$b/${PWD##*/}/$1\" ]; then echo $k; return; fi\n"                             \
	"		k=$((k + 1))\n"                                                                         \
	"	done\n"                                                                                  \
	"	echo $(($2 % SERVERS))\n"                                                                \
	"}\n"                                                                                      \
	"pieces() {\n"                                                                             \
	"	if [ -s \"$LIST\" ]; then return; fi\n"                                                  \
	"	rounds=$((MIB / 4 / SERVERS)) i=0 found=0\n"                                             \
	"	if [ $rounds -lt 1 ]; then rounds=1; fi\n"                                               \
	"	: >\"$LIST.new\"\n"                                                                      \
	"	while [ $found -lt $((rounds * SERVERS)) ]; do\n"                                        \
	"		i=$((i + 1))\n"                                                                         \
	"		if [ $i -gt $((100 * rounds * SERVERS)) ]; then\n"                                      \
	"			echo 'a server gets no files' >&2; return 1\n"                                         \
	"		fi\n"                                                                                   \
	"		: >piece.$i\n"                                                                          \
	"		s=$(server_of piece.$i $i)\n"                                                           \
	"		eval \"n=\\$((\\${n_$s:-0} + 1))\"\n"                                                   \
	"		if [ $n -gt $rounds ]; then rm piece.$i; continue; fi\n"                                \
	"		eval \"n_$s=$n\"\n"                                                                     \
	"		found=$((found + 1))\n"                                                                 \
	"		echo \"$n piece.$i\" >>\"$LIST.new\"\n"                                                 \
	"	done\n"                                                                                  \
	"	sort -n \"$LIST.new\" >\"$LIST.sorted\"\n"                                               \
	"	rm \"$LIST.new\"\n"                                                                      \
	"	mv \"$LIST.sorted\" \"$LIST\"\n"                                                         \
	"}\n"

/* order [ROUNDS]: the names of a pass, of so many rounds or all: rounds in another order each time,
 * and the servers of each round, so that clients do not run in step. */
#define SHELL_ORDER                                                                                \
	"order() {\n"                                                                              \
	"	awk -v seed=$((SEED + CLIENT * 1009 + PASS * 31)) -v most=\"${1:-0}\" '\n"               \
	"	BEGIN { srand(seed) }\n"                                                                 \
	"	!($1 in key) { key[$1] = rand() }\n"                                                     \
	"	{ print key[$1], rand(), $2 }' \"$LIST\" | sort -n -k1,1 -k2,2 |\n"                      \
	"	awk -v most=\"${1:-0}\" '\n"                                                             \
	"	$1 != last { rounds++; last = $1 }\n"                                                    \
	"	most && rounds > most { exit }\n"                                                        \
	"	{ print $3 }'\n"                                                                         \
	"}\n"

/* write_pieces, read_pieces [ROUNDS]: a pass over them. */
#define SHELL_DD                                                                                   \
	"write_pieces() {\n"                                                                       \
	"	for f in $(order \"$@\"); do\n"                                                          \
	"		dd if=/dev/zero of=$f bs=4M count=1 oflag=direct conv=notrunc "                         \
	"status=none\n"                                                                            \
	"	done\n"                                                                                  \
	"}\n"                                                                                      \
	"read_pieces() {\n"                                                                        \
	"	for f in $(order \"$@\"); do\n"                                                          \
	"		dd if=$f of=/dev/null bs=4M iflag=direct status=none\n"                                 \
	"	done\n"                                                                                  \
	"}\n"

/* iozone_pass write|read TEST: a pass of IOzone's test 0 (write, rewrite) or 1 (read, reread), with
 * an fsync at the end of each half. iozone wants one large file; fio takes the pieces. */
#define SHELL_IOZONE                                                                               \
	"fio_half() {\n"                                                                           \
	"	fio --output=/dev/null --name=half --rw=$1 --bs=4m --filesize=4m --direct=1 \\\n"        \
	"		--ioengine=psync --end_fsync=1 --fallocate=none --allow_file_create=0 "                 \
	"\\\n"                                                                                     \
	"		--file_service_type=sequential --thread --filename=\"$2\"\n"                            \
	"}\n"                                                                                      \
	"iozone_pass() {\n"                                                                        \
	"	if command -v iozone >/dev/null; then\n"                                                 \
	"		if [ $2 = 1 ] && [ ! -f iozone.file ]; then\n"                                          \
	"			iozone -i 0 -w -e -I -r 4m -s ${MIB}m -f iozone.file >/dev/null\n"                     \
	"		fi\n"                                                                                   \
	"		iozone -i $2 -w -e -I -r 4m -s ${MIB}m -f iozone.file >/dev/null\n"                     \
	"		return\n"                                                                               \
	"	fi\n"                                                                                    \
	"	names=$(order $((2 + (CLIENT + PASS) % 3)) | tr '\\n' ':')\n"                            \
	"	fio_half $1 \"${names%:}\"\n"                                                            \
	"	fio_half $1 \"${names%:}\"\n"                                                            \
	"}\n"

/* fill: write what is not there, or not in full. PASS is that of the preparation, 0. */
#define SHELL_FILL                                                                                 \
	"fill() {\n"                                                                               \
	"	for f in $(order); do\n"                                                                 \
	"		size=$(stat -c %s $f 2>/dev/null || echo 0)\n"                                          \
	"		if [ $size -lt 4194304 ]; then\n"                                                       \
	"			dd if=/dev/zero of=$f bs=4M count=1 oflag=direct status=none\n"                        \
	"		fi\n"                                                                                   \
	"	done\n"                                                                                  \
	"}\n"

/* mail NUMBER TRANSACTIONS: PostMark, each time with other numbers.
 * It writes without O_DIRECT and deletes most of what it wrote before any server would put that on
 * its disk; so servers are told to write its files at once (chattr +S, inherited), and GlusterFS's
 * list of what is to be deleted (which is there once something was). */
#define SHELL_MAIL                                                                                 \
	"mail() {\n"                                                                               \
	"	mkdir -p mail\n"                                                                         \
	"	: >deleted\n"                                                                            \
	"	rm deleted\n"                                                                            \
	"	for b in $BRICKS; do\n"                                                                  \
	"		for d in ${PWD##*/}/mail .shard/.remove_me; do\n"                                       \
	"			if [ -d $b/$d ]; then chattr +S $b/$d; fi\n"                                           \
	"		done\n"                                                                                 \
	"	done\n"                                                                                  \
	"	rm -rf mail/*\n"                                                                         \
	"	postmark >/dev/null <<-END\n"                                                            \
	"	set location mail\n"                                                                     \
	"	set size 4096 65536\n"                                                                   \
	"	set number $1\n"                                                                         \
	"	set transactions $2\n"                                                                   \
	"	set read 65536\n"                                                                        \
	"	set write 65536\n"                                                                       \
	"	set buffering false\n"                                                                   \
	"	set subdirectories 8\n"                                                                  \
	"	set seed $((SEED + CLIENT * 1009 + PASS * 31))\n"                                        \
	"	set report terse\n"                                                                      \
	"	run\n"                                                                                   \
	"	quit\n"                                                                                  \
	"	END\n"                                                                                   \
	"}\n"

#endif
