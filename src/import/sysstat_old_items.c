#include "import/sysstat_old_items.h"

#include "base/array.h"

/* The width of a field. */
enum width {
	BYTE,
	INT,	  /* 4 bytes */
	LONG,	  /* 4 or 8 bytes, in 8 bytes */
	LONG_INT, /* the same, but the kernel counts in 4 bytes: the lower half */
	LONG_LONG,
};

struct old_field {
	const char *name;
	uint8_t offset;
	enum width width;
};

struct sysstat_old_items {
	uint32_t id;
	uint32_t version; /* magic - SYSSTAT_ACTIVITY_MAGIC */
	uint32_t size;
	int key;
	size_t key_len; /* these bytes of the key are 0 if an item is not in use */
	const struct old_field *fields;
	uint32_t n_fields;
};

/* sysstat 9.1.6 to 10.0 */
static const struct old_field disk_0[] = {
	{"rd_sec", 0, LONG_LONG},
	{"wr_sec", 16, LONG_LONG},
	{"rd_ticks", 32, LONG_INT},
	{"wr_ticks", 40, LONG_INT},
	{"tot_ticks", 48, LONG_INT},
	{"rq_ticks", 56, LONG_INT},
	{"ios", 64, LONG},
};

static const struct old_field disk_1[] = {
	{"ios", 0, LONG_LONG},
	{"rd_sec", 16, LONG},
	{"wr_sec", 24, LONG},
	{"rd_ticks", 32, INT},
	{"wr_ticks", 36, INT},
	{"tot_ticks", 40, INT},
	{"rq_ticks", 44, INT},
};

/* sysstat 9.1.6 to 10.1.3 */
static const struct old_field net_0[] = {
	{"rx_packets", 0, LONG},
	{"tx_packets", 8, LONG},
	{"rx_bytes", 16, LONG},
	{"tx_bytes", 24, LONG},
	{"rx_compressed", 32, LONG},
	{"tx_compressed", 40, LONG},
	{"rx_multicast", 48, LONG},
};

/* sysstat 10.1.4 to 10.1.7 lack the last two fields; the name is in their place. */
#define NET_1_FIELDS 7
static const struct old_field net_2[] = {
	{"rx_packets", 0, LONG_LONG},
	{"tx_packets", 16, LONG_LONG},
	{"rx_bytes", 32, LONG_LONG},
	{"tx_bytes", 48, LONG_LONG},
	{"rx_compressed", 64, LONG_LONG},
	{"tx_compressed", 80, LONG_LONG},
	{"rx_multicast", 96, LONG_LONG},
	{"speed", 112, INT},
	{"duplex", 132, BYTE},
};

/* sysstat 9.1.6 to 10.1.3 */
static const struct old_field net_errors_0[] = {
	{"tx_colls", 0, LONG},
	{"rx_errs", 8, LONG},
	{"tx_errs", 16, LONG},
	{"rx_drop", 24, LONG},
	{"tx_drop", 32, LONG},
	{"rx_fifo", 40, LONG},
	{"tx_fifo", 48, LONG},
	{"rx_frame", 56, LONG},
	{"tx_carrier", 64, LONG},
};

static const struct old_field net_errors_1[] = {
	{"tx_colls", 0, LONG_LONG},
	{"rx_errs", 16, LONG_LONG},
	{"tx_errs", 32, LONG_LONG},
	{"rx_drop", 48, LONG_LONG},
	{"tx_drop", 64, LONG_LONG},
	{"rx_fifo", 80, LONG_LONG},
	{"tx_fifo", 96, LONG_LONG},
	{"rx_frame", 112, LONG_LONG},
	{"tx_carrier", 128, LONG_LONG},
};

/* sysstat aligns its structures to 8 or 16 bytes on every machine, so that their size does not
 * depend on the size of a long. */
static const struct sysstat_old_items layouts[] = {
	{SYSSTAT_A_DISK, 0, 80, 72, 8, disk_0, ARRAY_SIZE(disk_0)},
	{SYSSTAT_A_DISK, 1, 64, 48, 8, disk_1, ARRAY_SIZE(disk_1)},
	{SYSSTAT_A_NET_DEV, 0, 72, 56, 1, net_0, ARRAY_SIZE(net_0)},
	{SYSSTAT_A_NET_DEV, 1, 128, 112, 1, net_2, NET_1_FIELDS},
	{SYSSTAT_A_NET_DEV, 2, 144, 116, 1, net_2, ARRAY_SIZE(net_2)},
	{SYSSTAT_A_NET_EDEV, 0, 88, 72, 1, net_errors_0, ARRAY_SIZE(net_errors_0)},
	{SYSSTAT_A_NET_EDEV, 1, 160, 144, 1, net_errors_1, ARRAY_SIZE(net_errors_1)},
};

const struct sysstat_old_items *sysstat_old_items_find(uint32_t id, uint32_t magic, uint32_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].id == id && layouts[i].size == size &&
			layouts[i].version + SYSSTAT_ACTIVITY_MAGIC == magic)
			return &layouts[i];
	}
	return NULL;
}

int sysstat_old_items_key(const struct sysstat_old_items *items)
{
	return items->key;
}

static uint8_t width_bytes(enum width width, struct sysstat_arch arch)
{
	if (width == BYTE)
		return 1;
	return width == LONG_LONG || (width == LONG && arch.long_is_64) ? 8 : 4;
}

bool sysstat_old_items_field(const struct sysstat_old_items *items, const char *name,
	struct sysstat_arch arch, int *ret_offset, uint8_t *ret_width)
{
	bool little = arch.swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	for (uint32_t i = 0; i < items->n_fields; i++) {
		const struct old_field *f = &items->fields[i];

		if (strcmp(f->name, name))
			continue;
		*ret_offset = f->offset;
		if (f->width == LONG_INT && arch.long_is_64 && !little)
			*ret_offset += 4;
		*ret_width = width_bytes(f->width, arch);
		return true;
	}
	return false;
}

uint32_t sysstat_old_items_used(const struct sysstat_old_items *items, const uint8_t *p, uint32_t n)
{
	static const uint8_t unused[8];
	uint32_t used = 0;

	while (used < n && memcmp(p + items->key, unused, items->key_len) != 0) {
		p += items->size;
		used++;
	}
	return used;
}
