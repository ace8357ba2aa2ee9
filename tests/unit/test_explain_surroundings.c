#include "explain/surroundings.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000)

/* One kind with two columns, and one component of it, as a batch. */
struct rig {
	struct lp_catalogue *catalogue;
	struct lp_batch *batch;
	struct surroundings around;
};

static void rig_add(struct rig *g, const char *kind, const char *column, const char *other,
	const char *observer, const char *name, const char *labels, const int64_t *values,
	uint32_t n)
{
	struct lp_column columns[] = {{column, "", LP_GAUGE, 0}, {other, "", LP_GAUGE, 0}};
	struct lp_schema schema = {kind, columns, 2};
	struct lp_batch_kind *k;
	uint32_t id, s, row;

	g->catalogue = lp_catalogue_new();
	g->batch = lp_batch_new(16);
	assert_int_equal(lp_catalogue_add_schema(g->catalogue, &schema, &s, NULL), 0);
	assert_int_equal(
		lp_catalogue_add_component(g->catalogue, s, observer, name, labels, &id, NULL), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(lp_batch_add_sample(g->batch, (1000 + i) * S, i * S), 0);
	assert_int_equal(lp_batch_kind_get(g->batch, s, 2, NULL, &k), 0);
	assert_int_equal(lp_batch_add_component(g->batch, k, id, &row), 0);
	for (uint32_t i = 0; i < n; i++) {
		k->state[i] = LP_PRESENT;
		k->columns[0][i] = values[2 * i];
		k->columns[1][i] = values[2 * i + 1];
	}
	assert_int_equal(surroundings_batch(&g->around, g->catalogue, g->batch), 0);
	lp_batch_free(g->batch);
	lp_catalogue_free(g->catalogue);
}

/* What a suspect of that name hears, while it is in trouble from 1000 to 1010 s. */
static void assert_context(struct rig *g, const char *component, const char *want)
{
	struct lp_identity *id = lp_identity_parse(component);
	struct lp_suspect suspect = {.first_us = 1000 * S, .last_us = 1010 * S};
	struct lp_verdict v = {
		.components = &id, .n_components = 1, .suspects = &suspect, .n_suspects = 1};
	char got[512] = "";

	assert_int_equal(surroundings_tell(&g->around, &v), 0);
	assert_int_equal(suspect.n_evidence, suspect.n_context);
	for (uint32_t i = 0; i < suspect.n_context; i++) {
		size_t len = strlen(got);

		snprintf(got + len, sizeof(got) - len, "%s%s", i ? "; " : "", suspect.context[i]);
		free(suspect.context[i]);
		free(suspect.evidence[i]);
	}
	free(suspect.context);
	free(suspect.evidence);
	lp_identity_unref(id);
	assert_string_equal(got, want);
}

static void test_link(void **state)
{
	const int64_t values[] = {1, 4, 1, 4, LP_MISSING, 4};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "drive", "pcie_lanes", "pcie_max_lanes", "oss1", "nvme0n1", "", values, 3);
	assert_int_equal(g.around.n, 1);
	assert_int_equal(g.around.items[0].last_us, 1001 * S);
	assert_context(&g, "oss1/disk:nvme0n1", "link down-trained to x1 (of x4)");
	assert_context(&g, "oss2/disk:nvme0n1", "");
	assert_context(&g, "oss1/disk:nvme1n1", "");
	assert_context(&g, "oss1/net:eth0", "");
	/* The disks of an OST are on its server. */
	assert_context(&g, "oss1/ost:a-OST0000", "drive nvme0n1: link down-trained to x1 (of x4)");
	surroundings_release(&g.around);
}

static void test_sound(void **state)
{
	const int64_t values[] = {4, 4, 4, LP_MISSING};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "drive", "pcie_lanes", "pcie_max_lanes", "oss1", "nvme0n1", "", values, 2);
	assert_int_equal(g.around.n, 0);
	surroundings_release(&g.around);
}

static void test_array(void **state)
{
	const int64_t values[] = {2, 0};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "raid", "action", "x", "oss1", "md0", "members=sda,sdb", values, 1);
	assert_context(&g, "oss1/disk:sdb", "raid md0: rebuilding");
	assert_context(&g, "oss1/disk:md0", "rebuilding");
	assert_context(&g, "oss1/disk:sdbb", "");
	surroundings_release(&g.around);
}

static void test_heat(void **state)
{
	const int64_t values[] = {85500, 82000};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "sensor", "milli_c", "max_milli_c", "oss1", "nvme-nvme0-temp1", "members=nvme0",
		values, 1);
	assert_context(
		&g, "oss1/disk:nvme0n1", "sensor nvme-nvme0-temp1: too hot: 85.5 C (limit 82 C)");
	assert_context(&g, "oss1/disk:nvme01n1", "");
	surroundings_release(&g.around);
}

static void test_growth(void **state)
{
	const int64_t steady[] = {7, 0, 7, 0}, more[] = {7, 0, 9, 0};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "drive", "timeouts", "x", "oss1", "sda", "", steady, 2);
	assert_context(&g, "oss1/disk:sda", "");
	rig_add(&g, "drive", "timeouts", "x", "oss1", "sda", "", more, 2);
	assert_context(&g, "oss1/disk:sda", "requests to it time out");
	surroundings_release(&g.around);
}

static void test_clients_hear_of_the_server(void **state)
{
	const int64_t values[] = {1, 0};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "ost", "recovering", "x", "oss1", "a-OST0003", "", values, 1);
	assert_context(&g, "client7/osc:a-OST0003", "in recovery");
	assert_context(&g, "client7/osc:a-OST0004", "");
	surroundings_release(&g.around);
}

static void test_jobs(void **state)
{
	const int64_t many[] = {0, 0, 100, 800}, few[] = {0, 0, 50, 50};
	struct rig g = {0};

	(void)state;
	rig_add(&g, "job", "rd_bytes", "wr_bytes", "oss1", "a.1", "", many, 2);
	rig_add(&g, "job", "rd_bytes", "wr_bytes", "oss1", "b.2", "", few, 2);
	rig_add(&g, "job", "rd_bytes", "wr_bytes", "oss2", "b.2", "", few, 2);
	assert_context(
		&g, "oss1/disk:sda", "job a.1 does 90% of the reading and writing on its server");
	assert_context(&g, "oss1/net:eth0", "");
	surroundings_release(&g.around);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_clients_hear_of_the_server),
		cmocka_unit_test(test_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
