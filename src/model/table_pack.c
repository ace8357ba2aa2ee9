#include "model/table_pack.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row in packed form; its pages and its component follow. Pointers differ between processes, so
 * metrics of the catalogue are packed as numbers. */
struct row_image {
	struct table_row row;
	int64_t metric, head_metric;
	uint64_t n_pages;
};

struct page_image {
	int64_t number;
	uint64_t n_set;
};

static int64_t metric_number(const struct lp_metric *metric)
{
	const struct lp_metric *const *all = lp_metric_all();

	for (int64_t i = 0; metric && all[i]; i++) {
		if (all[i] == metric)
			return i;
	}
	return -1;
}

static const struct lp_metric *metric_at(int64_t number)
{
	return number < 0 ? NULL : lp_metric_all()[number];
}

static int64_t metrics_count(void)
{
	int64_t n = 0;

	while (lp_metric_all()[n])
		n++;
	return n;
}

static size_t page_size(bool narrow)
{
	return TABLE_PAGE_SLOTS * (narrow ? sizeof(float) : sizeof(double));
}

static void pages_pack(const struct table_pages *p, struct strbuf *ret)
{
	strbuf_reserve(ret, p->n * (sizeof(struct page_image) + page_size(p->narrow)));
	for (size_t i = 0; i < p->n; i++) {
		const struct page_image image = {p->items[i].number, p->items[i].n_set};

		strbuf_add(ret, &image, sizeof(image));
		strbuf_add(ret, p->items[i].values, page_size(p->narrow));
	}
}

static void row_pack(const struct table_row *row, struct strbuf *ret)
{
	struct row_image image;

	memset(&image, 0, sizeof(image));
	image.row = *row;
	image.metric = metric_number(row->metric);
	image.head_metric = metric_number(row->head.metric);
	image.n_pages = row->pages.n;
	image.row.metric = image.row.head.metric = NULL;
	image.row.component = NULL;
	image.row.pages = (struct table_pages){.narrow = row->pages.narrow};
	strbuf_add(ret, &image, sizeof(image));
	parcel_text(ret, row->component->observer);
	parcel_text(ret, row->component->kind);
	parcel_text(ret, row->component->name);
	parcel_text(ret, row->component->labels);
	parcel_text(ret, row->component->text);
	pages_pack(&row->pages, ret);
}

void table_builder_pack(const struct lp_table_builder *b, struct strbuf *ret)
{
	parcel_u64(ret, b->n_absurd);
	parcel_u64(ret, b->n_beyond);
	parcel_u64(ret, b->n_sets);
	for (size_t s = 0; s < b->n_sets; s++) {
		parcel_text(ret, b->sets[s].name);
		parcel_text(ret, b->sets[s].unit);
		parcel_u64(ret, b->sets[s].n_rows);
		for (size_t i = 0; i < b->sets[s].n_rows; i++)
			row_pack(&b->sets[s].rows[i], ret);
	}
}

static int page_unpack(struct table_pages *p, struct cursor *from)
{
	struct table_page *page = &p->items[p->n];
	struct page_image image;
	const uint8_t *head = cursor_bytes(from, sizeof(image));
	const uint8_t *values = cursor_bytes(from, page_size(p->narrow));

	if (!values)
		return -EBADMSG;
	memcpy(&image, head, sizeof(image));
	if (image.n_set > TABLE_PAGE_SLOTS)
		return -EBADMSG;
	*page = (struct table_page){.number = image.number, .n_set = (uint32_t)image.n_set};
	page->values = table_cells_new(p->narrow);
	if (!page->values)
		return -ENOMEM;
	memcpy(page->values, values, page_size(p->narrow));
	p->n++;
	return 0;
}

static int pages_unpack(struct table_pages *p, uint64_t n, struct cursor *from)
{
	int r = 0;

	if (n > (uint64_t)(from->end - from->p) / page_size(p->narrow))
		return -EBADMSG;
	p->items = n ? calloc(n, sizeof(*p->items)) : NULL;
	if (n && !p->items)
		return -ENOMEM;
	p->cap = n;
	for (uint64_t i = 0; r == 0 && i < n; i++)
		r = page_unpack(p, from);
	return r;
}

/* A component with a text of another form has no separators. */
static struct lp_identity *identity_make(char *const texts[5])
{
	struct lp_identity *id = lp_identity_new(texts[0], texts[1], texts[2], texts[3]);

	if (!id || !strcmp(id->text, texts[4]))
		return id;
	lp_identity_unref(id);
	return lp_identity_parse(texts[4]);
}

static int identity_unpack(struct cursor *from, struct lp_identity **ret)
{
	char *texts[5] = {0};
	int r = 0;

	for (int i = 0; r == 0 && i < 5; i++) {
		r = parcel_take_text(from, &texts[i]);
		r = r == 0 && !texts[i] ? -EBADMSG : r;
	}
	*ret = r == 0 ? identity_make(texts) : NULL;
	for (int i = 0; i < 5; i++)
		free(texts[i]);
	return r < 0 ? r : *ret ? 0 : -ENOMEM;
}

/* Metrics of one component share its identity, as in the original. */
static void identity_share(const struct lp_table_builder *b, struct lp_identity **id)
{
	uint32_t number;

	if (!strmap_get(&b->numbers, (*id)->text, &number))
		return;
	for (size_t s = 0; s < b->n_sets; s++) {
		const struct column_set *set = &b->sets[s];
		const struct lp_identity *known;

		if (number >= set->n_numbers || set->row_of[number] == NO_ROW)
			continue;
		known = set->rows[set->row_of[number]].component;
		if (!strcmp(known->labels, (*id)->labels)) {
			lp_identity_unref(*id);
			*id = lp_identity_ref(known);
		}
		return;
	}
}

static int row_unpack(
	struct lp_table_builder *b, uint32_t set, int64_t n_metrics, struct cursor *from)
{
	const uint8_t *bytes = cursor_bytes(from, sizeof(struct row_image));
	struct lp_identity *id;
	struct row_image image;
	struct table_row *row;
	uint32_t at;
	int r;

	if (!bytes)
		return -EBADMSG;
	memcpy(&image, bytes, sizeof(image));
	if (image.metric >= n_metrics || image.head_metric >= n_metrics)
		return -EBADMSG;
	r = identity_unpack(from, &id);
	if (r < 0)
		return r;
	identity_share(b, &id);
	r = table_set_row(b, &b->sets[set], id, &at);
	lp_identity_unref(id);
	if (r < 0)
		return r;
	row = &b->sets[set].rows[at];
	image.row.component = row->component;
	image.row.metric = metric_at(image.metric);
	image.row.head.metric = metric_at(image.head_metric);
	*row = image.row;
	r = pages_unpack(&row->pages, image.n_pages, from);
	b->budget.used += pages_bytes(&row->pages);
	return r;
}

static int set_unpack(struct lp_table_builder *b, int64_t n_metrics, struct cursor *from)
{
	_cleanup_free_ char *name = NULL;
	char *unit = NULL;
	uint64_t n_rows;
	uint32_t set;
	int r = parcel_take_text(from, &name);

	if (r == 0)
		r = name ? table_set_get(b, name, &set) : -EBADMSG;
	if (r == 0)
		r = parcel_take_text(from, &unit);
	if (r < 0)
		return r;
	if (!unit)
		return -EBADMSG;
	free(b->sets[set].unit);
	b->sets[set].unit = unit;
	n_rows = cursor_u64(from);
	for (uint64_t i = 0; r == 0 && i < n_rows; i++)
		r = row_unpack(b, set, n_metrics, from);
	return r;
}

int table_builder_unpack(struct lp_table_builder *b, struct cursor *from)
{
	int64_t n_metrics = metrics_count();
	uint64_t n_sets;
	int r = 0;

	b->n_absurd = cursor_u64(from);
	b->n_beyond = cursor_u64(from);
	n_sets = cursor_u64(from);
	for (uint64_t i = 0; r == 0 && i < n_sets; i++)
		r = set_unpack(b, n_metrics, from);
	return r == 0 && from->bad ? -EBADMSG : r;
}
