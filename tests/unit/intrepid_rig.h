/* Four storage arrays of 72 LUNs: each has two controllers with four servers each. The primary
 * attachment of LUN n is at server n % 8 of its array, the secondary at a server of the other
 * controller. */
#ifndef INTREPID_RIG_H
#define INTREPID_RIG_H

#include "explain_rig.h"

#define LUNS 72
#define ARRAYS 4

static const char intrepid_topology[] =
	"version: 1\n"
	"components:\n"
	"  - match: 'fs{server}/disk:{array}.{lun}'\n"
	"    attributes: {array: 'ddn{array}', server: 'fs{server}', priority: 1}\n"
	"  - match: 'fs{server}/disk:{array}.{lun}'\n"
	"    where: {server: '0-3,8-11,16-19,24-27'}\n"
	"    attributes: {controller: 'ddn{array}a'}\n"
	"  - match: 'fs{server}/disk:{array}.{lun}'\n"
	"    where: {server: '4-7,12-15,20-23,28-31'}\n"
	"    attributes: {controller: 'ddn{array}b'}\n";

static inline const char *attachment(unsigned array, unsigned lun, unsigned priority)
{
	static char names[8][64];
	static unsigned next;
	unsigned server = array * 8 + (lun + 4 * (priority - 1) + (priority > 2)) % 8;
	char *name = names[next++ % 8];

	snprintf(name, sizeof(names[0]), "fs%u/disk:%u.%02u", server, array, lun);
	return name;
}

static inline void intrepid_init(struct rig *r)
{
	rig_init(r, 40);
	rig_topology(r, intrepid_topology);
	for (unsigned priority = 1; priority <= 2; priority++) {
		for (unsigned array = 0; array < ARRAYS; array++) {
			for (unsigned lun = 0; lun < LUNS; lun++)
				rig_add(r, priority == 1 ? "disk priority=1" : "disk priority=2",
					attachment(array, lun, priority));
		}
	}
	rig_metric(r, "disk", "await");
	rig_metric(r, "disk", "rd_sec");
}

static inline struct lp_finding *find_slow(
	struct rig *r, unsigned array, unsigned lun, uint32_t first, uint32_t last)
{
	return rig_find(r, attachment(array, lun, 1), "await", LP_MARK_ABOVE, 80, 10, first, last);
}

static inline void find_lost(struct rig *r, unsigned array, unsigned lun, double own)
{
	rig_find(r, attachment(array, lun, 1), "await", LP_MARK_ABSENT, own, 10, 5, 39);
}

/* The load of a lost primary, where all others are idle. */
static inline void find_load(struct rig *r, unsigned array, unsigned lun)
{
	const char *name = attachment(array, lun, 2);

	rig_find(r, name, "await", LP_MARK_ABOVE, 12, 0, 7, 39);
	rig_find(r, name, "rd_sec", LP_MARK_ABOVE, 4e3, 0, 7, 39);
}

#endif
