/* Words with a running disk, over the socket NODE/disk.ctl: one line there, one line back.
 *
 *   slow FACTOR             service times times FACTOR (1: as new)
 *   busy PERCENT            hidden competing load: another initiator's reads take the disk, about
 *                           that share of its time, and move the head away (0: none)
 *   stall EVERY_MS FOR_MS   about every EVERY_MS it does nothing for FOR_MS (0 0: never)
 *   show                    "slow 1 busy 0 stall 0 0 requests N bytes N late_us N"
 *   reset                   all as new
 *
 * The answer is "ok", what was asked for, or "error: WHY". */
#ifndef LAB_DISK_CONTROL_H
#define LAB_DISK_CONTROL_H

#include <limpet/err.h>
#include <stddef.h>

/* Send a line and get the answer (without its newline) into `reply`. An "error:" is -EINVAL. */
int disk_control(
	const char *socket_path, const char *line, char *reply, size_t size, struct lp_err *err);

#endif
