/* The power that a disk takes, from the numbers of its data sheet.
 *
 *     drives:
 *       - name: ultrastar-36z15
 *         title: IBM Ultrastar 36Z15, 15000/min
 *         active: 13.5   # W while it reads or writes
 *         idle: 10.2     # W while it waits
 *         seek: 13.5     # W while it moves its heads; none: like active
 *         seek-ms: 3.4   # how long that takes on average; none: it has no heads
 *         spin: 12.4     # W while it spins up
 *         spin-s: 10.9   # how long that takes
 *         standby-s: 60  # it stops after this idle time; none: never
 *
 * Energy is counted above that of an idle disk. Each access uses the active power for the time that
 * no earlier access covers, and, if it does not continue the previous access, the seek power for an
 * average seek, but for no longer than the access.
 */
#ifndef TRACE_STACK_DRIVE_H
#define TRACE_STACK_DRIVE_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

struct drive {
	char *name, *title;
	double active_w, idle_w, seek_w, spin_w;
	double seek_ms, spin_s, standby_s; /* standby_s 0: it never stops */
};

struct drives {
	struct drive *items;
	size_t n, cap;
};

/* Read drives from a text; errors name the line. Zero-initialise `ret`, and release it even after a
 * failure. */
int drives_parse(
	const char *text, size_t len, const char *name, struct drives *ret, struct lp_err *err);
/* From the file; NULL: those of data/drives.yaml, which are built in. */
int drives_load(const char *path, struct drives *ret, struct lp_err *err);
void drives_release(struct drives *d);

/* The drive of that name, NULL: there is none. */
const struct drive *drives_find(const struct drives *d, const char *name);

/* A disk at work: zero-initialise it, then give it the accesses in the order of their beginning. */
struct drive_state {
	int64_t busy_until_ns;
	int64_t next_offset; /* behind the access before; meaningless until `used` */
	int used;
};

/* The energy of an access in J, above that of an idle disk. `offset` < 0: not known, no seek. */
double drive_access(const struct drive *d, struct drive_state *s, int64_t start_ns, int64_t end_ns,
	int64_t offset, int64_t bytes);

#endif
