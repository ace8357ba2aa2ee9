/* Sets and reads the trouble of a server's disk, through the program behind it. */
#ifndef LAB_DISK_TROUBLE_H
#define LAB_DISK_TROUBLE_H

#include "lab/lab.h"

/* In the form of the disk's answer. */
struct disk_shown {
	double slow, busy_percent, stall_every_ms, stall_for_ms;
};

/* Send a line of disk_control.h. */
int disk_trouble_say(const struct lab *lab, const struct lab_node *on, struct lp_err *err,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

int disk_trouble_show(const struct lab *lab, const struct lab_node *on, struct disk_shown *ret,
	struct lp_err *err);

/* Parse the answer to "show". */
int disk_trouble_parse(const char *text, struct disk_shown *ret, struct lp_err *err);

/* The same as disk_trouble_say(), for undoing: without a disk program there is no trouble. */
int disk_trouble_undo(
	const struct lab *lab, const struct lab_node *on, const char *line, struct lp_err *err);

#endif
