#include "unit.h"

#include "detect/group/discover.h"
#include "detect/group/verdict_tables.h"
#include "identity_rig.h"
#include "model/topology.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 240

static uint64_t seed;

/* Uniform in 0 .. 1. */
static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* Roughly normal. */
static double noise(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum - 6;
}

/* What component number `disk` of server number `server` does in slot `slot`. */
typedef double (*model_fn)(int server, int disk, int slot);

static struct lp_table *table_make(
	const char *metric, const char *unit, int servers, int disks, model_fn model)
{
	struct lp_table *t = calloc(1, sizeof(*t));
	uint32_t n = (uint32_t)(servers * disks);

	t->metric = strdup(metric);
	t->unit = strdup(unit);
	t->step_us = 15000000;
	t->n_slots = SLOTS;
	t->n_components = n;
	t->components = calloc(n, sizeof(struct lp_identity *));
	t->values = calloc((size_t)n * SLOTS, sizeof(double));
	for (uint32_t i = 0; i < n; i++) {
		t->components[i] =
			identity_printf("fs%d/disk:%02d", (int)i / disks, (int)i % disks);
		for (int s = 0; s < SLOTS; s++)
			t->values[(size_t)i * SLOTS + (size_t)s] =
				model((int)i / disks, (int)i % disks, s);
	}
	return t;
}

static struct lp_verdict *discover(struct lp_table **tables, uint32_t n)
{
	struct lp_verdict *v = calloc(1, sizeof(*v));

	assert_int_equal(verdict_own_tables(v, tables, n, NULL), 0);
	assert_int_equal(topology_groups(NULL, v->components, v->n_components, NULL, 0, NULL,
				 &v->groups, &v->n_groups, NULL),
		0);
	assert_int_equal(discover_groups(v, NULL, NULL), 0);
	return v;
}

/* Discovery on one table of throughput. */
static struct lp_verdict *run(int servers, int disks, model_fn model)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(1, sizeof(*tables));

	seed = 1;
	tables[0] = table_make("throughput", "bytes/s", servers, disks, model);
	return discover(tables, 1);
}

/* And on reads and writes. */
static struct lp_verdict *run_both(int servers, int disks, model_fn reads, model_fn writes)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(2, sizeof(*tables));

	seed = 1;
	tables[0] = table_make("rd_sec", "sectors/s", servers, disks, reads);
	tables[1] = table_make("wr_sec", "sectors/s", servers, disks, writes);
	return discover(tables, 2);
}

static void check_one_group(struct lp_verdict *v)
{
	assert_int_equal(v->n_groups, 1);
	assert_string_equal(v->groups[0].name, "disk");
	assert_int_equal(v->groups[0].n_members, v->n_components);
	assert_false(v->groups[0].discovered);
	assert_int_equal(v->n_notes, 0);
	lp_verdict_free(v);
}

static double alike(int server, int disk, int slot)
{
	(void)server;
	(void)disk;
	return 20e6 * exp(0.3 * noise()) * (1.5 + sin(slot / 20.0));
}

static void test_homogeneous(void **state)
{
	(void)state;
	check_one_group(run(20, 8, alike));
	check_one_group(run(3, 3, alike));
	check_one_group(run(2, 12, alike));
	check_one_group(run(1, 12, alike));
	check_one_group(run(128, 1, alike));
}

/* Most peers must see it, so it stays with them: one server that comes to be at half speed, or two
 * at three times the load, or one that does nothing. */
static double one_slow(int server, int disk, int slot)
{
	return alike(server, disk, slot) * (server == 7 && slot > SLOTS / 4 ? 0.4 : 1);
}

static double two_loaded(int server, int disk, int slot)
{
	bool loaded = slot > SLOTS / 4 && (server == 7 || server == 9);

	return alike(server, disk, slot) * (loaded ? 3 : 1);
}

static double one_dead(int server, int disk, int slot)
{
	return server == 7 ? 0 : alike(server, disk, slot);
}

static double one_other(int server, int disk, int slot)
{
	return alike(server, disk, slot) * (server == 7 ? 2 : 1);
}

static void test_slow_servers_stay(void **state)
{
	(void)state;
	check_one_group(run(20, 8, one_slow));
	check_one_group(run(20, 8, two_loaded));
	check_one_group(run(20, 8, one_dead));
	check_one_group(run(20, 1, one_other));
}

/* Every host has its own permanent load; the disks of a host are alike. */
static double hosts(int server, int disk, int slot)
{
	return alike(server, disk, slot) * (1 + 0.4 * ((server * 37) % 11) / 11.0);
}

/* Hosts are busy at different times, and do about the same in total. */
static double bursts(int server, int disk, int slot)
{
	return alike(server, disk, slot) * exp(sin(slot / 15.0 + 2.4 * server));
}

static void check_by_observer(struct lp_verdict *v, uint32_t servers, uint32_t disks)
{
	assert_int_equal(v->n_groups, servers);
	for (uint32_t i = 0; i < servers; i++) {
		char name[32];

		snprintf(name, sizeof(name), "disk of fs%u", i);
		assert_string_equal(v->groups[i].name, name);
		assert_int_equal(v->groups[i].n_members, disks);
		assert_int_equal(v->groups[i].members[0], i * disks);
		assert_true(v->groups[i].discovered);
		assert_null(v->groups[i].refused);
	}
	assert_int_equal(v->n_notes, 1);
	assert_non_null(strstr(v->notes[0], "compared with those of their own observer"));
	assert_non_null(strstr(v->notes[0], "limpet topology --suggest"));
	lp_verdict_free(v);
}

static void test_hosts(void **state)
{
	(void)state;
	check_by_observer(run(30, 12, hosts), 30, 12);
	check_by_observer(run(30, 3, hosts), 30, 3);
	check_by_observer(run(20, 8, bursts), 20, 8);
	check_by_observer(run(2, 12, hosts), 2, 12);
}

/* One host is different as a whole, and always was: that is said once, and no disk of it stands
 * beside those of other hosts. Load and latency count alike. */
static void check_cohort(struct lp_verdict *v, const char *metric)
{
	assert_non_null(strstr(v->notes[0], "1 of 20 observers differ from the others as a whole"));
	assert_non_null(strstr(v->notes[0], metric));
	assert_non_null(strstr(v->notes[0], "(fs7)"));
	check_by_observer(v, 20, 8);
}

static void test_cohort(void **state)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(2, sizeof(*tables));

	(void)state;
	check_cohort(run(20, 8, one_other), "throughput");
	seed = 1;
	tables[0] = table_make("throughput", "bytes/s", 20, 8, alike);
	tables[1] = table_make("latency", "ms", 20, 8, one_other);
	check_cohort(discover(tables, 2), "latency");
}

/* Connections have two ends: those of a server that is different stay where they can be seen. */
static void test_no_parts(void **state)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(1, sizeof(*tables));
	struct lp_verdict *v;

	(void)state;
	seed = 1;
	tables[0] = table_make("rxbyt", "bytes/s", 20, 8, one_other);
	for (uint32_t i = 0; i < tables[0]->n_components; i++) {
		lp_identity_unref(tables[0]->components[i]);
		tables[0]->components[i] = identity_printf("fs%u/tcp:10.0.0.%u:in", i / 8, i % 8);
	}
	v = discover(tables, 1);
	assert_int_equal(v->n_groups, 1);
	lp_verdict_free(v);
}

/* What was decided stays while hosts are neither clearly alike nor clearly apart. */
static double shift;

static double one_apart(int server, int disk, int slot)
{
	return alike(server, disk, slot) * (server == 7 ? shift : 1);
}

static double many_apart(int server, int disk, int slot)
{
	return alike(server, disk, slot) * (server % 3 ? 1 : shift);
}

static uint32_t look(struct discover_memory *memory, model_fn model, double by)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(1, sizeof(*tables));
	struct lp_verdict *v = calloc(1, sizeof(*v));
	uint32_t n;

	seed = 1;
	shift = by;
	tables[0] = table_make("latency", "ms", 20, 8, model);
	assert_int_equal(verdict_own_tables(v, tables, 1, NULL), 0);
	assert_int_equal(topology_groups(NULL, v->components, v->n_components, NULL, 0, NULL,
				 &v->groups, &v->n_groups, NULL),
		0);
	assert_int_equal(discover_groups(v, memory, NULL), 0);
	n = v->n_groups;
	lp_verdict_free(v);
	return n;
}

static void test_memory(void **state)
{
	struct discover_memory memory = {0};

	(void)state;
	assert_int_equal(look(&memory, one_apart, 1.0), 1);
	assert_int_equal(look(&memory, one_apart, 1.3), 1);
	assert_int_equal(look(&memory, one_apart, 4.0), 1); /* one that is off is no class */
	assert_int_equal(look(&memory, many_apart, 1.3), 1);
	assert_int_equal(look(&memory, many_apart, 2.0), 20);
	assert_int_equal(look(&memory, many_apart, 1.3), 20);
	assert_int_equal(look(&memory, one_apart, 1.3), 20);
	assert_int_equal(look(&memory, one_apart, 1.0), 1);
	discover_memory_release(&memory);
}

/* Too few components per observer to detect differences between observers. */
static void test_too_few(void **state)
{
	(void)state;
	check_one_group(run(30, 2, hosts));
	check_one_group(run(2, 4, hosts));
}

/* One attachment of eight is used. */
static double priorities(int server, int disk, int slot)
{
	if ((server + disk) % 8)
		return uniform() < 0.01 ? 3000 * uniform() : 0;
	return alike(server, disk, slot);
}

static void test_priorities(void **state)
{
	struct lp_verdict *v = run(16, 16, priorities);

	(void)state;
	assert_int_equal(v->n_groups, 2);
	assert_int_equal(v->groups[0].n_members, 32);
	assert_int_equal(v->groups[1].n_members, 224);
	assert_non_null(strstr(v->groups[0].name, "disk throughput class 1 (about "));
	assert_non_null(strstr(v->groups[0].name, " MB/s)"));
	assert_string_equal(v->groups[1].name, "disk throughput class 2 (about nothing)");
	assert_true(v->groups[0].discovered && v->groups[1].discovered);
	for (uint32_t i = 0; i < v->groups[0].n_members; i++) {
		uint32_t m = v->groups[0].members[i];

		assert_int_equal((m / 16 + m % 16) % 8, 0);
	}
	assert_int_equal(v->n_notes, 1);
	lp_verdict_free(v);
}

/* A tenth of the busy have lost their path, all the time or from the middle on. */
static double lost_paths(int server, int disk, int slot)
{
	return disk == 3 && server % 2 ? 0 : alike(server, disk, slot);
}

static double lost_later(int server, int disk, int slot)
{
	return disk % 3 == 0 && slot > SLOTS / 2 ? 0 : alike(server, disk, slot);
}

static double few_hogs(int server, int disk, int slot)
{
	return alike(server, disk, slot) * (server == 3 && disk < 2 ? 20 : 1);
}

static void test_culprits_are_no_class(void **state)
{
	(void)state;
	check_one_group(run(20, 6, lost_paths));
	check_one_group(run(20, 6, lost_later));
	check_one_group(run(20, 6, few_hogs));
}

/* New ones are written three times as much, and read as all. */
static double reads(int server, int disk, int slot)
{
	return alike(server, disk, slot) / 512;
}

static double new_written(int server, int disk, int slot)
{
	return alike(server, disk, slot) / 2048 * (disk >= 8 ? 3 : 1);
}

static double nothing(int server, int disk, int slot)
{
	(void)server;
	(void)disk;
	(void)slot;
	return NAN;
}

static void test_share_of_writes(void **state)
{
	struct lp_verdict *v = run_both(10, 12, reads, new_written);

	(void)state;
	assert_int_equal(v->n_groups, 2);
	assert_int_equal(v->groups[0].n_members, 40);
	assert_non_null(strstr(v->groups[0].name, "disk wr_sec class 1 (about "));
	assert_int_equal(v->groups[1].n_members, 80);
	lp_verdict_free(v);
	check_one_group(run_both(10, 12, reads, nothing));
	check_by_observer(run(10, 12, nothing), 10, 12);
}

/* Idle attachments first, and among the busy ones old and new. */
static double intrepid(int server, int disk, int slot)
{
	if ((server + disk) % 4)
		return 0;
	return alike(server, disk, slot) * (disk >= 8 ? 4 : 1);
}

static void test_classes_of_classes(void **state)
{
	struct lp_verdict *v = run(16, 16, intrepid);
	uint32_t total = 0;

	(void)state;
	assert_int_equal(v->n_groups, 3);
	for (uint32_t i = 0; i < 3; i++)
		total += v->groups[i].n_members;
	assert_int_equal(total, 256);
	assert_int_equal(v->groups[0].n_members, 32);
	assert_int_equal(v->groups[1].n_members, 32);
	assert_int_equal(v->n_notes, 2);
	lp_verdict_free(v);
}

/* Latency alone: disks of a host are peers, unless hosts are alike. */
static void test_other_metrics(void **state)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(1, sizeof(*tables));

	(void)state;
	seed = 1;
	tables[0] = table_make("await", "ms", 30, 12, hosts);
	check_by_observer(discover(tables, 1), 30, 12);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the same */
	tables = calloc(1, sizeof(*tables));
	tables[0] = table_make("await", "ms", 30, 12, alike);
	check_one_group(discover(tables, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_homogeneous),
		cmocka_unit_test(test_slow_servers_stay),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_cohort),
		cmocka_unit_test(test_no_parts),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_culprits_are_no_class),
		cmocka_unit_test(test_share_of_writes),
		cmocka_unit_test(test_classes_of_classes),
		cmocka_unit_test(test_other_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
