#include "import/sysstat_format.h"

#include "base/array.h"

uint64_t sysstat_types_size(const struct sysstat_types *t)
{
	return 8 * (uint64_t)t->n[SYSSTAT_ULL] + 8 * (uint64_t)t->n[SYSSTAT_UL] +
		4 * (uint64_t)t->n[SYSSTAT_U];
}

int sysstat_field_offset(const struct sysstat_types *t, enum sysstat_class class, uint32_t index)
{
	uint64_t offset = 0;

	if (index >= t->n[class])
		return -1;
	for (int c = 0; c < (int)class; c++)
		offset += 8 * (uint64_t)t->n[c];
	return (int)(offset + (class == SYSSTAT_U ? 4 : 8) * (uint64_t)index);
}

unsigned sysstat_field_width(enum sysstat_class class, struct sysstat_arch arch)
{
	return class == SYSSTAT_ULL || (class == SYSSTAT_UL && arch.long_is_64) ? 8 : 4;
}

uint64_t sysstat_field(const uint8_t *p, const struct sysstat_types *t, struct sysstat_arch arch,
	enum sysstat_class class, uint32_t index)
{
	int offset = sysstat_field_offset(t, class, index);

	if (offset < 0)
		return 0;
	if (sysstat_field_width(class, arch) == 8)
		return sysstat_u64(p + offset, arch.swap);
	return sysstat_u32(p + offset, arch.swap);
}

/* The newest form of each activity's structure, by its number. If the numbers of fields in a file
 * are neither all smaller nor all larger, it is damaged. */
static const struct {
	uint8_t version; /* magic - SYSSTAT_ACTIVITY_MAGIC */
	uint8_t n[3];
} activities[] = {
	[1] = {1, {10, 0, 0}},	/* CPU */
	[2] = {1, {1, 1, 0}},	/* processes and switches */
	[3] = {2, {0, 0, 1}},	/* interrupts */
	[4] = {0, {0, 2, 0}},	/* swapping */
	[5] = {0, {0, 10, 0}},	/* paging */
	[6] = {1, {7, 0, 0}},	/* all disks together */
	[7] = {1, {18, 0, 0}},	/* memory */
	[8] = {1, {4, 0, 0}},	/* kernel tables */
	[9] = {2, {3, 0, 3}},	/* run queue */
	[10] = {1, {0, 0, 7}},	/* serial lines */
	[11] = {2, {3, 3, 8}},	/* disks */
	[12] = {3, {7, 0, 1}},	/* interfaces */
	[13] = {2, {9, 0, 0}},	/* errors of interfaces */
	[14] = {0, {0, 0, 6}},	/* NFS client */
	[15] = {0, {0, 0, 11}}, /* NFS server */
	[16] = {0, {0, 0, 6}},	/* sockets */
	[17] = {2, {8, 0, 0}},	/* IP */
	[18] = {2, {8, 0, 0}},	/* IP errors */
	[19] = {0, {0, 14, 0}}, /* ICMP */
	[20] = {0, {0, 12, 0}}, /* ICMP errors */
	[21] = {0, {0, 4, 0}},	/* TCP */
	[22] = {0, {0, 5, 0}},	/* TCP errors */
	[23] = {0, {0, 4, 0}},	/* UDP */
	[24] = {0, {0, 0, 4}},	/* sockets, IPv6 */
	[25] = {2, {10, 0, 0}}, /* IPv6 */
	[26] = {2, {11, 0, 0}}, /* IPv6 errors */
	[27] = {0, {0, 17, 0}}, /* ICMPv6 */
	[28] = {0, {0, 11, 0}}, /* ICMPv6 errors */
	[29] = {0, {0, 4, 0}},	/* UDPv6 */
	[30] = {0, {0, 1, 0}},	/* CPU clock */
	[31] = {0, {2, 0, 0}},	/* fans */
	[32] = {0, {3, 0, 0}},	/* temperatures */
	[33] = {0, {3, 0, 0}},	/* voltages */
	[34] = {1, {4, 0, 0}},	/* huge pages */
	[35] = {1, {1, 1, 0}},	/* CPU clock, weighted */
	[36] = {0, {0, 0, 4}},	/* USB */
	[37] = {1, {5, 0, 0}},	/* file systems */
	[38] = {0, {0, 4, 0}},	/* Fibre Channel */
	[39] = {0, {0, 0, 6}},	/* softnet */
	[40] = {0, {1, 3, 0}},	/* CPU pressure */
	[41] = {0, {2, 6, 0}},	/* I/O pressure */
	[42] = {0, {2, 6, 0}},	/* memory pressure */
};

bool sysstat_types_plausible(uint32_t id, uint32_t magic, const struct sysstat_types *t)
{
	bool older = true, newer = true;

	if (!id || id >= ARRAY_SIZE(activities) ||
		magic != SYSSTAT_ACTIVITY_MAGIC + (uint32_t)activities[id].version)
		return true;
	for (int c = 0; c < 3; c++) {
		older = older && t->n[c] <= activities[id].n[c];
		newer = newer && t->n[c] >= activities[id].n[c];
	}
	return older || newer;
}
