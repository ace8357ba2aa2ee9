/* Makes archives for the tests of their format, and prints what the library reads from one.
 *
 *     make_archive write loose|closed|dense|sealed|logs SEED FILE     logs: and nothing else
 *     make_archive remark OBSERVER WALL_US TEXT FILE     a remark, and nothing else
 *     make_archive tiny FILE         the example of docs/archive-format.md
 *     make_archive dump FILE         a line a component a sample, and a record of a log
 */
#include "../unit/log_rig.h"

#include <inttypes.h>

static int die(const struct lp_err *err)
{
	fprintf(stderr, "%s\n", err->text);
	return 1;
}

static int write_remark(const char *observer, int64_t wall_us, const char *text, const char *path)
{
	struct lp_archive_meta meta = truth_meta;
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	meta.observer = observer;
	if (lp_archive_create(path, &meta, &w, &err) < 0 ||
		lp_archive_write_event(w, wall_us, text, &err) < 0 || lp_archive_close(w, &err) < 0)
		return die(&err);
	return 0;
}

static int write_random(const char *form, uint64_t seed, const char *path)
{
	struct truth *t = truth_new(13, 700, seed % 3 ? TRUTH_ALL : 0, seed);
	bool dense = !strcmp(form, "dense"), samples = strcmp(form, "logs") != 0;
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	if (lp_archive_create(path, &truth_meta, &w, &err) < 0)
		return die(&err);
	if (samples)
		truth_write(t, w, 0, 300, dense ? 100 : 10, dense);
	lp_archive_write_event(w, TRUTH_START, "kind=clock-step step_us=5", &err);
	log_rig_write(w, "calls", 0, 90 + (uint32_t)seed * 200, 40 + (uint32_t)seed * 100);
	log_rig_write(w, "descriptors", 0, 3, 1);
	if (samples)
		truth_write(t, w, 300, 700, dense ? 150 : 7, dense);
	truth_free(t);
	if (!strcmp(form, "loose"))
		lp_archive_abandon(w);
	else if (lp_archive_close(w, &err) < 0)
		return die(&err);
	if (!strcmp(form, "sealed") && lp_archive_seal(path, NULL, &err) < 0)
		return die(&err);
	return 0;
}

static int write_tiny(const char *path)
{
	static const struct lp_column column = {"rd_ios", "requests", LP_COUNTER, 64};
	static const struct lp_schema schema = {"disk", &column, 1};
	static const struct lp_archive_meta meta = {.observer = "oss3", .interval_us = 1000000};
	static const int64_t values[] = {1000, 1003, 1003};
	struct lp_catalogue *c = lp_catalogue_new();
	struct lp_batch *b = lp_batch_new(3);
	struct lp_archive_writer *w;
	struct lp_batch_kind *k;
	struct lp_err err = {0};
	uint32_t id, row;
	int r = lp_archive_create(path, &meta, &w, &err);

	if (r < 0)
		return die(&err);
	lp_catalogue_add_schema(c, &schema, &id, &err);
	lp_catalogue_add_component(c, id, "oss3", "sda", "", &id, &err);
	lp_batch_kind_get(b, 0, 1, NULL, &k);
	lp_batch_add_component(b, k, id, &row);
	for (int64_t s = 0; s < 3; s++) {
		lp_batch_add_sample(b, TRUTH_START + s * 1000000, 7000000 + s * 1000000);
		k->state[s] = LP_PRESENT;
		k->columns[0][s] = values[s];
	}
	r = lp_archive_write(w, c, b, LP_ARCHIVE_LOOSE, &err);
	lp_catalogue_free(c);
	lp_batch_free(b);
	if (r < 0 || lp_archive_close(w, &err) < 0)
		return die(&err);
	return 0;
}

static void dump_row(const struct lp_catalogue *c, const struct lp_batch *b,
	const struct lp_batch_kind *k, uint32_t row, uint32_t s)
{
	size_t cell = (size_t)row * b->cap_samples + s;
	char name[256];

	lp_component_name(c, k->ids[row], name, sizeof(name));
	printf("%" PRId64 " %" PRId64 " %s %u", b->wall_us[s], b->mono_us[s], name, k->state[cell]);
	for (uint32_t col = 0; col < k->n_columns; col++) {
		const struct lp_column *column = &c->schemas[k->schema].columns[col];
		int64_t value = k->columns[col][cell];

		if (truth_cell_missing(column->type, value))
			printf(" %s=missing", column->name);
		else
			printf(" %s=%" PRId64, column->name, value);
	}
	printf("\n");
}

static int dump_event(void *ctx, int64_t wall_us, const char *text)
{
	(void)ctx;
	printf("event %" PRId64 " %s\n", wall_us, text);
	return 0;
}

static int dump_log(void *ctx, const struct lp_log *log)
{
	(void)ctx;
	for (uint32_t i = 0; i < log->n_records; i++) {
		printf("log %s %" PRIu64, log->name, log->first_record + i);
		for (uint32_t f = 0; f < log->n_fields; f++) {
			printf(" %s=", log->fields[f].name);
			if (log->ints[f])
				printf("%" PRId64, log->ints[f][i]);
			for (uint32_t k = 0; log->texts[f] && k < log->texts[f][i].len; k++)
				printf("%02x", (unsigned char)log->texts[f][i].bytes[k]);
		}
		printf("\n");
	}
	return 0;
}

static int dump(const char *path)
{
	struct lp_source *source;
	struct lp_batch *b;
	struct lp_err err = {0};
	int r = lp_archive_open(path, NULL, NULL, &source, &err);

	if (r < 0)
		return die(&err);
	while ((r = lp_source_next(source, &b, &err)) > 0) {
		for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++) {
			for (uint32_t i = 0; i < b->n_kinds; i++) {
				for (uint32_t row = 0; row < b->kinds[i].n_components; row++) {
					if (b->kinds[i].state[(size_t)row * b->cap_samples + s])
						dump_row(
							source->catalogue, b, &b->kinds[i], row, s);
				}
			}
		}
	}
	if (r == 0)
		r = lp_archive_events(source, dump_event, NULL, &err);
	if (r == 0)
		r = lp_archive_logs(source, NULL, dump_log, NULL, &err);
	lp_source_close(source);
	return r < 0 ? die(&err) : 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_random(argv[2], strtoul(argv[3], NULL, 10), argv[4]);
	if (argc == 6 && !strcmp(argv[1], "remark"))
		return write_remark(argv[2], strtoll(argv[3], NULL, 10), argv[4], argv[5]);
	if (argc == 3 && !strcmp(argv[1], "tiny"))
		return write_tiny(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "dump"))
		return dump(argv[2]);
	fprintf(stderr, "usage: make_archive write FORM SEED FILE | tiny FILE | dump FILE\n");
	return 2;
}
