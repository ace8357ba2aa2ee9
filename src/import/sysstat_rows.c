#include "import/sysstat_rows.h"

#include "base/array.h"
#include "import/sysstat_device.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DISK_PARTITION 7 /* among the ints of a disk */

struct sysstat_component {
	bool wanted;
	uint32_t row;			      /* in batch number `batch` */
	uint32_t batch;			      /* the last batch in which it has a row; 0: none */
	uint64_t seen;			      /* number of the last sample that contains it; 0:
					       * none */
	uint64_t taken[SYSSTAT_WANTED_MAX];   /* the same for each activity */
	uint64_t watched[SYSSTAT_FIELDS_MAX]; /* counters in the last sample */
	uint8_t wwn[16];		      /* of a disk, as in the file */
};

void sysstat_rows_release(struct sysstat_rows *rows)
{
	free(rows->components);
	for (int k = 0; k < SYSSTAT_KINDS; k++)
		strmap_release(&rows->ids[k]);
	for (int i = 0; i < SYSSTAT_WANTED_MAX; i++)
		free(rows->slots[i]);
	free(rows->cells);
}

void sysstat_rows_bind(struct sysstat_rows *rows, const struct lp_batch *b)
{
	rows->batch++;
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		for (uint32_t row = 0; row < b->kinds[k].n_components; row++) {
			struct sysstat_component *c = &rows->components[b->kinds[k].ids[row]];

			c->row = row;
			c->batch = rows->batch;
		}
	}
}

void sysstat_rows_begin(struct sysstat_rows *rows, bool restarted)
{
	rows->sample++;
	rows->restarted = restarted;
}

static void disk_texts(const struct sysstat_rows *rows, const struct sysstat_plan *p,
	const uint8_t *item, char name[SYSSTAT_NAME_MAX], char labels[2 * SYSSTAT_NAME_MAX])
{
	uint32_t major = sysstat_u32(item + p->key_offset, rows->arch.swap);
	uint32_t minor = sysstat_u32(item + p->key_offset + 4, rows->arch.swap);
	uint32_t partition = (uint32_t)sysstat_field(
		item, &p->activity->types, rows->arch, SYSSTAT_U, DISK_PARTITION);
	char wwn_text[SYSSTAT_NAME_MAX];
	uint64_t wwn[2] = {0};
	int n;

	sysstat_disk_name(major, minor, name);
	n = snprintf(labels, 2 * SYSSTAT_NAME_MAX, "devno=%" PRIu32 ":%" PRIu32, major, minor);
	for (int i = 0; p->wwn_offset >= 0 && i < 2; i++)
		wwn[i] = sysstat_u64(item + p->wwn_offset + 8 * i, rows->arch.swap);
	if (!wwn[0])
		return;
	sysstat_wwn_text(wwn, partition, wwn_text);
	snprintf(labels + n, 2 * SYSSTAT_NAME_MAX - (size_t)n, "\nwwn=%s", wwn_text);
}

/* The names of `item`. */
static void item_texts(const struct sysstat_rows *rows, const struct sysstat_plan *p,
	const uint8_t *item, char name[SYSSTAT_NAME_MAX], char labels[2 * SYSSTAT_NAME_MAX])
{
	if (p->kind == SYSSTAT_DISK) {
		disk_texts(rows, p, item, name, labels);
	} else {
		sysstat_clean_name(item + p->key_offset, (size_t)p->key_len, name);
		labels[0] = '\0';
	}
}

static int add_component(struct sysstat_rows *rows, const struct sysstat_plan *p, const char *name,
	const char *labels, uint32_t *ret_id, struct lp_err *err)
{
	struct sysstat_component *c;
	uint32_t id;
	int r;

	r = lp_catalogue_add_component(rows->catalogue, rows->plans->kinds[p->kind].schema,
		rows->observer, name, labels, &id, err);
	if (r < 0)
		return r;
	if (array_reserve(&rows->components, &rows->cap_components, (size_t)id + 1,
		    sizeof(*rows->components)) < 0 ||
		strmap_put(&rows->ids[p->kind], name, id) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot add component %s", name);
	c = &rows->components[id];
	c->wanted = !rows->select || !rows->select->component ||
		rows->select->component(rows->select->ctx, rows->catalogue, id);
	*ret_id = id;
	return 0;
}

/* There is another item at this position than before: look it up by its name. */
static int slot_find(struct sysstat_rows *rows, const struct sysstat_plan *p, const uint8_t *item,
	struct sysstat_slot *slot, struct lp_err *err)
{
	char name[SYSSTAT_NAME_MAX], labels[2 * SYSSTAT_NAME_MAX];
	int r;

	item_texts(rows, p, item, name, labels);
	slot->used = false;
	if (!strmap_get(&rows->ids[p->kind], name, &slot->id)) {
		r = add_component(rows, p, name, labels, &slot->id, err);
		if (r < 0)
			return r;
	}
	memcpy(slot->key, item + p->key_offset, (size_t)p->key_len);
	slot->used = true;
	return 0;
}

/* Was the device replaced or reset since the previous sample? Remembers the counters for the next
 * sample. */
static bool counters_reset(const struct sysstat_rows *rows, const struct sysstat_plan *p,
	const uint8_t *item, struct sysstat_component *c)
{
	bool any = false, all = true;

	for (uint32_t i = 0; i < p->n_watches; i++) {
		uint64_t *before = &c->watched[p->first_watch + i];
		uint64_t now = sysstat_copy_load(&p->watches[i], item, rows->arch.swap);
		/* A counter that continues does not get this large. */
		bool wrapped = *before >> (8 * p->watches[i].width - 1);

		if (now < *before)
			any = any || !wrapped;
		else if (*before || !i)
			all = false;
		*before = now;
	}
	return p->reset_all ? all : any;
}

/* If the world wide name of a disk changed, it is another disk; its labels change, too. */
static int disk_replaced(struct sysstat_rows *rows, const struct sysstat_plan *p,
	const uint8_t *item, struct sysstat_component *c, bool *ret_fresh, struct lp_err *err)
{
	static const uint8_t none[sizeof(c->wwn)];
	char name[SYSSTAT_NAME_MAX], labels[2 * SYSSTAT_NAME_MAX];
	const uint8_t *wwn = item + p->wwn_offset;
	uint32_t id;

	if (!memcmp(wwn, c->wwn, sizeof(c->wwn)) || !memcmp(wwn, none, sizeof(none)))
		return 0;
	if (memcmp(c->wwn, none, sizeof(none)))
		*ret_fresh = true;
	memcpy(c->wwn, wwn, sizeof(c->wwn));
	disk_texts(rows, p, item, name, labels);
	return lp_catalogue_add_component(rows->catalogue, rows->plans->kinds[p->kind].schema,
		rows->observer, name, labels, &id, err);
}

/* Mark a component as seen in the current sample; returns its cell. */
static int take_item(struct sysstat_rows *rows, uint32_t plan, const uint8_t *item,
	struct sysstat_component *c, struct lp_batch *b, struct lp_batch_kind *k, uint32_t id,
	size_t *ret_cell, struct lp_err *err)
{
	const struct sysstat_plan *p = &rows->plans->plans[plan];
	bool fresh = rows->restarted || c->seen + 1 < rows->sample || !c->seen;
	bool reset = counters_reset(rows, p, item, c);
	size_t cell;
	int r = 0;

	if (c->seen == rows->sample) /* another activity was first */
		fresh = false;
	if (reset && c->taken[plan] + 1 == rows->sample)
		fresh = true;
	if (p->wwn_offset >= 0)
		r = disk_replaced(rows, p, item, c, &fresh, err);
	if (r < 0)
		return r;
	if (c->batch != rows->batch) {
		if (lp_batch_add_component(b, k, id, &c->row) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot add a row");
		c->batch = rows->batch;
	}
	cell = (size_t)c->row * b->cap_samples + b->n_samples - 1;
	for (uint32_t i = 0; c->seen != rows->sample && i < p->n_others; i++)
		k->columns[p->others[i]][cell] = LP_MISSING;
	k->state[cell] |= (uint8_t)(LP_PRESENT | (fresh ? LP_FRESH : 0));
	c->seen = c->taken[plan] = rows->sample;
	*ret_cell = cell;
	return 0;
}

static int reserve(struct sysstat_rows *rows, uint32_t plan, uint32_t n, struct lp_err *err)
{
	if (array_reserve(&rows->slots[plan], &rows->cap_slots[plan], n,
		    sizeof(struct sysstat_slot)) < 0 ||
		array_reserve(&rows->cells, &rows->cap_cells, n, sizeof(*rows->cells)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %" PRIu32 " items", n);
	return 0;
}

/* Is the same item as before at this position? memcmp() is called once per item of a file; with a
 * known length it is one or two comparisons. */
static bool slot_holds(const struct sysstat_slot *slot, const uint8_t *key, int len)
{
	if (!slot->used)
		return false;
	return len == 8 ? !memcmp(slot->key, key, 8) : !memcmp(slot->key, key, SYSSTAT_KEY_MAX);
}

/* Find the component and the cell for each item. */
static int place_items(struct sysstat_rows *rows, uint32_t plan, const uint8_t *items, uint32_t n,
	struct lp_batch *b, struct lp_batch_kind *k, struct lp_err *err)
{
	const struct sysstat_plan *p = &rows->plans->plans[plan];
	const uint8_t *item = items;

	for (uint32_t i = 0; i < n; i++, item += p->activity->size) {
		struct sysstat_slot *slot = &rows->slots[plan][i];
		struct sysstat_component *c;
		int r = 0;

		if (!slot_holds(slot, item + p->key_offset, p->key_len))
			r = slot_find(rows, p, item, slot, err);
		if (r < 0)
			return r;
		c = &rows->components[slot->id];
		rows->cells[i] = SYSSTAT_NO_CELL;
		if (c->wanted)
			r = take_item(rows, plan, item, c, b, k, slot->id, &rows->cells[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

int sysstat_rows_take(struct sysstat_rows *rows, uint32_t plan, const uint8_t *items, uint32_t n,
	struct lp_batch *b, struct lp_err *err)
{
	const struct sysstat_plan *p = &rows->plans->plans[plan];
	const struct sysstat_kind *kind = &rows->plans->kinds[p->kind];
	struct lp_batch_kind *k;
	int r;

	if (!n)
		return 0;
	r = reserve(rows, plan, n, err);
	if (r < 0)
		return r;
	if (lp_batch_kind_get(b, kind->schema, kind->n_columns, kind->mask, &k) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot begin a batch");
	r = place_items(rows, plan, items, n, b, k, err);
	for (uint32_t i = 0; r == 0 && i < p->n_copies; i++)
		sysstat_copy_run(&p->copies[i], items, p->activity->size, rows->arch.swap,
			rows->cells, n, k->columns[p->copies[i].column]);
	return r;
}
