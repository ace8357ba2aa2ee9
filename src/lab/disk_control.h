/* The control protocol of a running disk, over the socket NODE/disk.ctl: one line as request, one
 * line as answer.
 *
 *   slow FACTOR             multiply service times by FACTOR, 0.001 to 1000 (1: as new)
 *   busy PERCENT            hidden competing load: another initiator's reads take the disk, about
 *                           that share of its time, and move the head away (0: none; at most 95)
 *   stall EVERY_MS FOR_MS   about every EVERY_MS the disk does nothing for FOR_MS, which is at most
 *                           half of EVERY_MS (0 0: never)
 *   show                    "slow 1 busy 0 stall 0 0 requests N bytes N late_us N late_max_us N":
 *                           the settings, the totals, and how much later than in the model
 *                           requests were answered: the sum of all, and the worst one
 *   reset                   everything as new
 *
 * The answer is "ok", the requested values, or "error: WHY". */
#ifndef LAB_DISK_CONTROL_H
#define LAB_DISK_CONTROL_H

#include "lab/disk_model.h"
#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_LINE_MAX 256 /* of a request or an answer, with its newline or NUL */

/* Send a line and get the answer (without its newline) into `reply`. An "error:" is -EINVAL.
 * -ETIMEDOUT if the disk does not answer within seconds. */
int disk_control(
	const char *socket_path, const char *line, char *reply, size_t size, struct lp_err *err);

enum disk_word { DISK_WORD_SET, DISK_WORD_SHOW };

/* For the disk: parse a line (without newline). Changes only the named part of `trouble`, if the
 * line is valid. */
int disk_control_parse(const char *line, struct disk_trouble *trouble, enum disk_word *ret_word,
	struct lp_err *err);

/* The statistics of a disk. */
struct disk_counts {
	uint64_t requests, bytes, late_us, late_max_us;
};

/* The answer to "show", without newline. */
void disk_control_show(const struct disk_trouble *trouble, const struct disk_counts *counts,
	char reply[DISK_LINE_MAX]);

#endif
