#include "import/sysstat_plan.h"

#include "base/array.h"
#include "import/sysstat_old_items.h"
#include <errno.h>
#include <inttypes.h>

#define IFACE_BYTES 16

/* A byte after the numbers of a structure, in addition to enum sysstat_class. */
#define SYSSTAT_BYTE 3

struct field {
	const char *name, *unit;
	uint8_t class; /* enum sysstat_class or SYSSTAT_BYTE */
	uint8_t index; /* among the fields of its class */
	bool watch;    /* its value shows whether a device was replaced */
	bool gauge;    /* not a counter */
};

static const struct field disk_fields[] = {
	{"ios", "requests", SYSSTAT_ULL, 0, true},
	{"rd_sec", "sectors", SYSSTAT_UL, 0, true},
	{"wr_sec", "sectors", SYSSTAT_UL, 1, true},
	{"dc_sec", "sectors", SYSSTAT_UL, 2, true},
	{"rd_ticks", "ms", SYSSTAT_U, 0, false},
	{"wr_ticks", "ms", SYSSTAT_U, 1, false},
	{"dc_ticks", "ms", SYSSTAT_U, 6, false},
	{"tot_ticks", "ms", SYSSTAT_U, 2, false},
	{"rq_ticks", "ms", SYSSTAT_U, 3, false},
};
#define DISK_MAJOR 4 /* among the ints; the minor number follows */
#define DISK_WWN 1   /* among the long longs; it uses two of them */

static const struct field net_fields[] = {
	{"rx_packets", "packets", SYSSTAT_ULL, 0, true},
	{"tx_packets", "packets", SYSSTAT_ULL, 1, true},
	{"rx_bytes", "bytes", SYSSTAT_ULL, 2, true},
	{"tx_bytes", "bytes", SYSSTAT_ULL, 3, true},
	{"rx_compressed", "packets", SYSSTAT_ULL, 4, true},
	{"tx_compressed", "packets", SYSSTAT_ULL, 5, true},
	{"rx_multicast", "packets", SYSSTAT_ULL, 6, true},
	{"speed", "Mbit/s", SYSSTAT_U, 0, .gauge = true},
	{"duplex", "1 half, 2 full", SYSSTAT_BYTE, IFACE_BYTES, .gauge = true},
};

static const struct field net_error_fields[] = {
	{"tx_colls", "collisions", SYSSTAT_ULL, 0, true},
	{"rx_errs", "packets", SYSSTAT_ULL, 1, true},
	{"tx_errs", "packets", SYSSTAT_ULL, 2, true},
	{"rx_drop", "packets", SYSSTAT_ULL, 3, true},
	{"tx_drop", "packets", SYSSTAT_ULL, 4, true},
	{"rx_fifo", "packets", SYSSTAT_ULL, 5, true},
	{"tx_fifo", "packets", SYSSTAT_ULL, 6, true},
	{"rx_frame", "packets", SYSSTAT_ULL, 7, true},
	{"tx_carrier", "errors", SYSSTAT_ULL, 8, true},
};

/* The activities that limpet reads. Activities of one kind are consecutive, and so are their
 * columns. */
static const struct source_activity {
	uint32_t id;
	const char *name;
	enum sysstat_kind_id kind;
	uint8_t first_version, last_version; /* of the layout; 11.7.1 had not raised them yet */
	bool reset_all;
	const struct field *fields;
	uint32_t n_fields;
} sources[SYSSTAT_WANTED_MAX] = {
	{
		.id = SYSSTAT_A_DISK,
		.name = "disks",
		.kind = SYSSTAT_DISK,
		.first_version = 1,
		.last_version = 2,
		.reset_all = true,
		.fields = disk_fields,
		.n_fields = ARRAY_SIZE(disk_fields),
	},
	{
		.id = SYSSTAT_A_NET_DEV,
		.name = "interfaces",
		.kind = SYSSTAT_NET,
		.first_version = 2,
		.last_version = 3,
		.fields = net_fields,
		.n_fields = ARRAY_SIZE(net_fields),
	},
	{
		.id = SYSSTAT_A_NET_EDEV,
		.name = "errors of interfaces",
		.kind = SYSSTAT_NET,
		.first_version = 1,
		.last_version = 2,
		.fields = net_error_fields,
		.n_fields = ARRAY_SIZE(net_error_fields),
	},
};

static const char *const kind_names[SYSSTAT_KINDS] = {"disk", "net"};

/* Does this activity have a known layout, with all fields that identify an item? */
static bool layout_known(const struct sysstat_file *f, const struct source_activity *s,
	const struct sysstat_activity *a)
{
	uint64_t numbers = sysstat_types_size(&a->types);
	uint32_t version = a->magic - SYSSTAT_ACTIVITY_MAGIC;

	if (f->old)
		return a->old && a->nr2 == 1;
	if (version < s->first_version || version > s->last_version || a->nr2 != 1)
		return false;
	if (s->kind == SYSSTAT_DISK)
		return a->types.n[SYSSTAT_U] >= DISK_MAJOR + 2;
	return numbers + IFACE_BYTES <= a->size;
}

static struct sysstat_activity *find_activity(
	struct sysstat_file *f, const struct source_activity *s, struct lp_warn *warn)
{
	for (uint32_t i = 0; i < f->n_activities; i++) {
		struct sysstat_activity *a = &f->activities[i];

		if (a->id != s->id)
			continue;
		if (layout_known(f, s, a))
			return a;
		lp_warn_raise(warn,
			"%s: skipping its statistics of %s: layout 0x%" PRIx32
			" of sysstat %s, with items of %" PRIu32 " bytes, is not known",
			f->path, s->name, a->magic, f->version, a->size);
		return NULL;
	}
	return NULL;
}

static struct sysstat_copy field_copy(
	const struct field *field, const struct sysstat_activity *a, struct sysstat_arch arch)
{
	uint64_t byte = sysstat_types_size(&a->types) + field->index;
	struct sysstat_copy copy = {.offset = -1, .width = 1};

	if (field->class != SYSSTAT_BYTE)
		copy.width = (uint8_t)sysstat_field_width(field->class, arch);
	if (a->old)
		sysstat_old_items_field(a->old, field->name, arch, &copy.offset, &copy.width);
	else if (field->class != SYSSTAT_BYTE)
		copy.offset = sysstat_field_offset(&a->types, field->class, field->index);
	else if (byte < a->size)
		copy.offset = (int)byte;
	return copy;
}

static int key_offset(const struct source_activity *s, const struct sysstat_activity *a)
{
	if (a->old)
		return sysstat_old_items_key(a->old);
	if (s->kind == SYSSTAT_DISK)
		return sysstat_field_offset(&a->types, SYSSTAT_U, DISK_MAJOR);
	return (int)sysstat_types_size(&a->types);
}

/* Watch the counters of an activity, and find the key of its items. */
static void plan_items(struct sysstat_plan *p, const struct source_activity *s,
	const struct sysstat_activity *a, struct sysstat_arch arch)
{
	p->activity = a;
	p->kind = s->kind;
	p->reset_all = s->reset_all;
	p->key_len = s->kind == SYSSTAT_DISK ? 8 : IFACE_BYTES;
	p->key_offset = key_offset(s, a);
	p->wwn_offset = -1;
	if (s->kind == SYSSTAT_DISK && a->types.n[SYSSTAT_ULL] >= DISK_WWN + 2)
		p->wwn_offset = sysstat_field_offset(&a->types, SYSSTAT_ULL, DISK_WWN);
	for (uint32_t i = 0; i < s->n_fields; i++) {
		if (s->fields[i].watch)
			p->watches[p->n_watches++] = field_copy(&s->fields[i], a, arch);
	}
}

/* The columns of a kind: those of all its activities that are in the file. */
static uint32_t kind_columns(const struct sysstat_plans *p,
	const struct source_activity *const *found, enum sysstat_kind_id kind,
	struct sysstat_arch arch, struct lp_column *columns)
{
	uint32_t n_columns = 0;

	for (uint32_t k = 0; k < p->n_plans; k++) {
		for (uint32_t i = 0; found[k]->kind == kind && i < found[k]->n_fields; i++) {
			const struct field *field = &found[k]->fields[i];

			columns[n_columns] = (struct lp_column){
				.name = field->name, .unit = field->unit, .type = LP_GAUGE};
			if (!field->gauge) {
				columns[n_columns].type = LP_COUNTER;
				columns[n_columns].bits = (uint8_t)(8 *
					field_copy(field, p->plans[k].activity, arch).width);
			}
			n_columns++;
		}
	}
	return n_columns;
}

static int add_kind(struct sysstat_kind *k, const char *name, const struct lp_column *columns,
	uint32_t n_columns, const struct lp_select *select, struct lp_catalogue *catalogue,
	struct lp_err *err)
{
	struct lp_schema schema = {.kind = name, .columns = columns, .n_columns = n_columns};
	int r;

	*k = (struct sysstat_kind){.n_columns = n_columns};
	if (!n_columns)
		return 0;
	r = lp_catalogue_add_schema(catalogue, &schema, &k->schema, err);
	if (r < 0)
		return r;
	for (uint32_t c = 0; c < n_columns; c++) {
		if (!select || !select->column ||
			select->column(select->ctx, &catalogue->schemas[k->schema], c))
			k->mask[c / 64] |= UINT64_C(1) << (c % 64);
	}
	return 0;
}

/* The wanted columns that an activity fills, and those that others of its kind fill. `first` is the
 * column of its first field. */
static void plan_columns(struct sysstat_plan *p, const struct sysstat_kind *k,
	const struct source_activity *s, uint32_t first, struct sysstat_arch arch)
{
	for (uint32_t c = 0; c < k->n_columns; c++) {
		if (!(k->mask[c / 64] >> (c % 64) & 1))
			continue;
		if (c < first || c >= first + s->n_fields) {
			p->others[p->n_others++] = c;
			continue;
		}
		p->copies[p->n_copies] = field_copy(&s->fields[c - first], p->activity, arch);
		p->copies[p->n_copies++].column = c;
	}
}

int sysstat_plans_make(struct sysstat_plans *p, struct sysstat_file *f,
	const struct lp_select *select, struct lp_catalogue *catalogue, struct lp_warn *warn,
	struct lp_err *err)
{
	const struct source_activity *found[SYSSTAT_WANTED_MAX];
	struct lp_column columns[2 * SYSSTAT_FIELDS_MAX];
	uint32_t first[SYSSTAT_KINDS] = {0}, n_found = 0;

	*p = (struct sysstat_plans){0};
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct sysstat_activity *a = find_activity(f, &sources[i], warn);

		if (!a)
			continue;
		a->wanted = (int)n_found;
		plan_items(&p->plans[n_found], &sources[i], a, f->arch);
		found[n_found++] = &sources[i];
	}
	p->n_plans = n_found;
	for (int k = 0; k < SYSSTAT_KINDS; k++) {
		uint32_t n = kind_columns(p, found, k, f->arch, columns);
		int r = add_kind(&p->kinds[k], kind_names[k], columns, n, select, catalogue, err);

		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; i < n_found; i++) {
		uint32_t *at = &first[found[i]->kind];

		p->plans[i].first_watch = *at;
		plan_columns(&p->plans[i], &p->kinds[found[i]->kind], found[i], *at, f->arch);
		*at += found[i]->n_fields;
	}
	return 0;
}

/* One loop per width and byte order, so that the loop has no conditions. */
#define RUN(load)                                                                                  \
	for (uint32_t i = 0; i < n; i++, p += item_size) {                                         \
		if (cells[i] != SYSSTAT_NO_CELL)                                                   \
			column[cells[i]] = (int64_t)(load);                                        \
	}

void sysstat_copy_run(const struct sysstat_copy *c, const uint8_t *items, uint32_t item_size,
	bool swap, const size_t *cells, uint32_t n, int64_t *column)
{
	const uint8_t *p = items + (c->offset < 0 ? 0 : c->offset);

	if (c->offset < 0) {
		RUN(0)
	} else if (c->width == 1) {
		RUN(*p)
	} else if (c->width == 8 && !swap) {
		RUN(sysstat_u64(p, false))
	} else if (c->width == 8) {
		RUN(sysstat_u64(p, true))
	} else if (!swap) {
		RUN(sysstat_u32(p, false))
	} else {
		RUN(sysstat_u32(p, true))
	}
}
