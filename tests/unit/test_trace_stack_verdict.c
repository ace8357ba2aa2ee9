/* Recordings of `limpet stack` of three servers and a client, made up: which server is slow, and
 * whether it is the network to it or what is behind it. */
#include "table_rig.h"
#include "temp_dir.h"

#include "import/dataset.h"
#include "trace/stack/layer_rows.h"
#include "trace/stack/server_rows.h"
#include <limpet/archive.h>
#include <limpet/diagnose.h>
#include <stdio.h>

#define SERVERS 3
#define SECONDS 150
#define BAD 2 /* the server that is slow */

/* How many times as long as usual the parts of a request take at the bad server. */
struct scene {
	double disk, way;
	bool old;   /* recorded before servers had rows of their own */
	bool hosts; /* archives say which addresses the servers have */
};

/* Times of one second in ms, without the way and with it, and requests. */
struct second {
	double block, server, answer;
	int64_t n;
};

static double jitter(void)
{
	return 0.8 + random_below(400) / 1000.0;
}

static struct second second_of(const struct scene *scene, int server)
{
	double disk = server == BAD ? scene->disk : 1, way = server == BAD ? scene->way : 1;
	struct second s = {.block = 3 * disk * jitter(), .n = 40 + random_below(20)};

	s.server = s.block + 2 * jitter();
	s.answer = s.server + 7 * way * jitter();
	return s;
}

static void archive_write(
	const char *name, const char *observer, const char *address, struct rig *r)
{
	char extra[64] = "";
	struct lp_archive_meta meta = {
		.observer = observer, .interval_us = US_PER_SEC, .extra = extra};
	struct lp_archive_writer *w = NULL;
	struct lp_err err = {0};

	if (address)
		snprintf(extra, sizeof(extra), "addresses=%s\n", address);
	assert_int_equal(lp_archive_create(temp_path(name), &meta, &w, &err), 0);
	assert_int_equal(
		lp_archive_write(w, r->source.catalogue, r->batch, LP_ARCHIVE_LOOSE, &err), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
}

/* A layer's counters grow by n calls of so many ms each. */
static void layer_grow(int64_t *values, int64_t n, double ms, bool of_server)
{
	const struct lp_schema *s = layer_rows_schema();
	int64_t ns = (int64_t)(ms * 1e6) * n;

	values[lp_schema_column(s, "n")] += n;
	values[lp_schema_column(s, "ns")] += ns;
	values[lp_schema_column(s, "served_n")] += of_server ? n : 0;
	values[lp_schema_column(s, "served_ns")] += of_server ? ns : 0;
}

static void server_write(int number, const struct second *seconds, bool hosts)
{
	static const char *const names[] = {"server", "storage", "block"};
	_cleanup_(rig_release) struct rig r;
	char observer[8], file[16], address[16];
	int64_t values[3][8] = {{0}};

	snprintf(observer, sizeof(observer), "s%d", number);
	snprintf(file, sizeof(file), "s%d.lpa", number);
	snprintf(address, sizeof(address), "10.0.0.%d", number);
	rig_init(&r, US_PER_SEC);
	for (int t = 0; t < SECONDS; t++) {
		rig_sample(&r, T0 + SEC(t), SEC(t));
		for (int layer = 0; layer < 3; layer++) {
			layer_grow(values[layer], seconds[t].n,
				layer ? seconds[t].block : seconds[t].server, true);
			rig_set(&r, rig_component(&r, layer_rows_schema(), observer, names[layer]),
				LP_PRESENT, values[layer]);
		}
	}
	archive_write(file, observer, hosts ? address : NULL, &r);
}

static void client_write(struct second seconds[SERVERS][SECONDS], bool old)
{
	_cleanup_(rig_release) struct rig r;
	int64_t total[8] = {0}, values[SERVERS][2] = {{0}};

	rig_init(&r, US_PER_SEC);
	for (int t = 0; t < SECONDS; t++) {
		rig_sample(&r, T0 + SEC(t), SEC(t));
		for (int i = 0; i < SERVERS; i++) {
			const struct second *s = &seconds[i][t];
			char name[24];

			snprintf(name, sizeof(name), "10.0.0.%d:3334", i + 1);
			layer_grow(total, s->n, s->answer, false);
			values[i][0] += s->n;
			values[i][1] += (int64_t)(s->answer * 1e6) * s->n;
			if (!old)
				rig_set(&r, rig_component(&r, server_rows_schema(), "c1", name),
					LP_PRESENT, values[i]);
		}
		rig_set(&r, rig_component(&r, layer_rows_schema(), "c1", "network"), LP_PRESENT,
			total);
	}
	archive_write("c1.lpa", "c1", "10.0.9.1", &r);
}

static struct lp_verdict *play(const struct scene *scene)
{
	static struct second seconds[SERVERS][SECONDS];
	char files[SERVERS + 1][TEMP_PATH_MAX];
	const char *paths[SERVERS + 1];
	struct lp_diagnose_options opt = {0};
	struct lp_dataset *ds = NULL;
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	random_state = 7;
	for (int i = 0; i < SERVERS; i++) {
		for (int t = 0; t < SECONDS; t++)
			seconds[i][t] = second_of(scene, i + 1);
		server_write(i + 1, seconds[i], scene->hosts);
	}
	client_write(seconds, scene->old);
	for (int i = 0; i <= SERVERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), i ? "s%d.lpa" : "c1.lpa", i);
		snprintf(files[i], sizeof(files[i]), "%s", temp_path(name));
		paths[i] = files[i];
	}
	if (lp_dataset_open(paths, SERVERS + 1, NULL, NULL, NULL, &ds, &err) < 0 ||
		lp_diagnose(ds, &opt, &v, &err) < 0)
		fail_msg("%s", err.text);
	lp_dataset_close(ds);
	for (int i = 0; i <= SERVERS; i++)
		assert_int_equal(remove(files[i]), 0);
	return v;
}

static const struct lp_suspect *suspect(const struct lp_verdict *v, const char *component)
{
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		if (!strcmp(v->components[v->suspects[i].component]->text, component))
			return &v->suspects[i];
	}
	return NULL;
}

static void test_well(void **state)
{
	struct lp_verdict *v = play(&(struct scene){.disk = 1, .way = 1, .hosts = true});

	(void)state;
	assert_int_equal(v->status, LP_STATUS_OK);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
}

/* Slow packets: the server is named, not the client, and nothing else of it. */
static void test_network(void **state)
{
	struct lp_verdict *v = play(&(struct scene){.disk = 1, .way = 3, .hosts = true});
	const struct lp_suspect *s = suspect(v, "s2/peer:clients");

	(void)state;
	assert_int_equal(v->n_suspects, 1);
	assert_non_null(s);
	assert_string_equal(s->cause, "slow-network");
	assert_int_equal(v->n_incidents, 1);
	lp_verdict_free(v);
}

/* What is behind the network is slow, and with it the answers: it is the disk. */
static void test_disk(void **state)
{
	struct lp_verdict *v = play(&(struct scene){.disk = 20, .way = 1, .hosts = true});

	(void)state;
	assert_int_equal(v->n_suspects, 4);
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		assert_string_equal(v->components[v->suspects[i].component]->observer, "s2");
		assert_string_equal(v->suspects[i].cause, "disk-busy");
	}
	assert_non_null(suspect(v, "s2/layer:block"));
	assert_non_null(suspect(v, "s2/peer:clients"));
	assert_int_equal(v->n_incidents, 1);
	lp_verdict_free(v);
}

/* Servers that do not say their addresses are named by these. */
static void test_addresses(void **state)
{
	struct lp_verdict *v = play(&(struct scene){.disk = 1, .way = 3});

	(void)state;
	assert_int_equal(v->n_suspects, 1);
	assert_non_null(suspect(v, "10.0.0.2/peer:clients"));
	lp_verdict_free(v);
}

/* Recordings without rows of servers are read and judged as before. */
static void test_old(void **state)
{
	struct lp_verdict *v =
		play(&(struct scene){.disk = 1, .way = 3, .hosts = true, .old = true});

	(void)state;
	assert_int_equal(v->status, LP_STATUS_OK);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
	v = play(&(struct scene){.disk = 20, .way = 1, .hosts = true, .old = true});
	assert_int_equal(v->n_suspects, 3);
	assert_string_equal(suspect(v, "s2/layer:block")->cause, "disk-busy");
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_well),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_old),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
