/* Which end of the connections loses the packets? Both count the retransmits. */
#include "explain_rig.h"

#define QUIET 0.5

static void set_level(const struct rig *r, const char *component, double rate)
{
	struct lp_table *t = r->v->tables[rig_metric_find(r, "retrans")];

	for (uint32_t c = 0; c < t->n_components; c++) {
		for (uint32_t i = 0; i < t->n_slots; i++) {
			if (!strcmp(t->components[c]->text, component))
				t->values[(size_t)c * t->n_slots + i] = rate;
		}
	}
}

/* Four servers and four clients, whose connections are pooled. */
static void make_cluster(struct rig *r)
{
	rig_init(r, 40);
	for (int i = 1; i <= 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%d/tcp:all:in", i);
		rig_add(r, "tcp all in", name);
		snprintf(name, sizeof(name), "c%d/tcp:all:out", i);
		rig_add(r, "tcp all out", name);
	}
	rig_metric(r, "tcp", "retrans");
	for (uint32_t c = 0; c < r->v->n_components; c++)
		set_level(r, r->v->components[c]->text, QUIET);
}

static void lose(struct rig *r, const char *component, double rate, uint32_t first, uint32_t last)
{
	set_level(r, component, rate);
	rig_find(r, component, "retrans", LP_MARK_ABOVE, rate, QUIET, first, last);
}

static bool is_suspect(const struct rig *r, const char *component)
{
	for (uint32_t s = 0; s < r->v->n_suspects; s++) {
		if (r->v->suspects[s].component == rig_component(r, component))
			return true;
	}
	return false;
}

/* A client that uses mostly the server that loses packets. */
static void test_client_of_a_lossy_server(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	lose(&r, "c3/tcp:all:out", 40, 5, 39);
	lose(&r, "oss2/tcp:all:in", 200, 5, 39);
	rig_explain(&r);
	assert_true(is_suspect(&r, "oss2/tcp:all:in"));
	assert_false(is_suspect(&r, "c3/tcp:all:out"));
	assert_string_equal(rig_cause(&r, "oss2/tcp:all:in"), "packet-loss");
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

static void test_server_of_a_lossy_client(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	lose(&r, "oss2/tcp:all:in", 40, 5, 39);
	lose(&r, "c3/tcp:all:out", 200, 5, 39);
	rig_explain(&r);
	assert_false(is_suspect(&r, "oss2/tcp:all:in"));
	assert_true(is_suspect(&r, "c3/tcp:all:out"));
	rig_release(&r);
}

/* Two servers have no connections with each other. */
static void test_two_servers(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	lose(&r, "oss1/tcp:all:in", 40, 5, 39);
	lose(&r, "oss2/tcp:all:in", 200, 5, 39);
	rig_explain(&r);
	assert_true(is_suspect(&r, "oss1/tcp:all:in"));
	assert_true(is_suspect(&r, "oss2/tcp:all:in"));
	rig_release(&r);
}

/* More than half of what the server lost, or at another time: both. */
static void test_not_the_same_loss(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	lose(&r, "c3/tcp:all:out", 150, 5, 39);
	lose(&r, "oss2/tcp:all:in", 200, 5, 39);
	rig_explain(&r);
	assert_true(is_suspect(&r, "oss2/tcp:all:in"));
	assert_true(is_suspect(&r, "c3/tcp:all:out"));
	rig_release(&r);

	make_cluster(&r);
	lose(&r, "c3/tcp:all:out", 40, 22, 39);
	lose(&r, "oss2/tcp:all:in", 200, 3, 18);
	rig_explain(&r);
	assert_true(is_suspect(&r, "oss2/tcp:all:in"));
	assert_true(is_suspect(&r, "c3/tcp:all:out"));
	rig_release(&r);
}

/* A server explains a client, which then explains no other server. */
static void test_chain(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	lose(&r, "oss1/tcp:all:in", 15, 5, 39);
	lose(&r, "c3/tcp:all:out", 60, 5, 39);
	lose(&r, "oss2/tcp:all:in", 200, 5, 39);
	rig_explain(&r);
	assert_true(is_suspect(&r, "oss1/tcp:all:in"));
	assert_false(is_suspect(&r, "c3/tcp:all:out"));
	assert_true(is_suspect(&r, "oss2/tcp:all:in"));
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_of_a_lossy_server),
		cmocka_unit_test(test_server_of_a_lossy_client),
		cmocka_unit_test(test_two_servers),
		cmocka_unit_test(test_not_the_same_loss),
		cmocka_unit_test(test_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
