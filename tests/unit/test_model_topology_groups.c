#include "unit.h"

#include "base/array.h"
#include "model/topology.h"
#include "topology_rig.h"
#include <stdio.h>
#include <string.h>

struct warnings {
	unsigned n;
	char last[512];
};

static void take(void *ctx, const char *text)
{
	struct warnings *warnings = ctx;

	warnings->n++;
	snprintf(warnings->last, sizeof(warnings->last), "%s", text);
}

static void check_members(const struct lp_peer_group *g, const char *name, const char *members)
{
	char text[256] = "";
	size_t len = 0;

	assert_string_equal(g->name, name);
	for (uint32_t i = 0; i < g->n_members; i++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%u", i ? "," : "", g->members[i]);
	assert_string_equal(text, members);
	assert_false(g->discovered);
}

static void test_by_kind(void **state)
{
	static const char *const names[] = {
		"a/disk:1", "a/net:eth0", "b/disk:1", "c/disk:1", "b/net:eth0", "a/tcp:x"};
	struct lp_peer_group *groups;
	uint32_t n;

	(void)state;
	assert_int_equal(groups_of(NULL, names, ARRAY_SIZE(names), NULL, 0, NULL, &groups, &n), 0);
	assert_int_equal(n, 3);
	check_members(&groups[0], "disk", "0,2,3");
	check_members(&groups[1], "net", "1,4");
	check_members(&groups[2], "tcp", "5");
	assert_null(groups[0].refused);
	assert_string_equal(groups[1].refused,
		"of 2 components it is impossible to say which one is off; a comparison needs at "
		"least 3");
	assert_string_equal(
		groups[2].refused, "1 component has no peers; a comparison needs at least 3");
	lp_peer_groups_free(groups, n);
}

/* Components, and the groups they must fall into. */
struct grouping {
	const char *names[10];
	const char *split; /* attribute; NULL: none */
	struct {
		const char *name, *members;
	} groups[6];
};

static void check_grouping(const struct grouping *g)
{
	struct lp_peer_group *groups;
	uint32_t n_names = 0, n, n_groups = 0;

	while (n_names < ARRAY_SIZE(g->names) && g->names[n_names])
		n_names++;
	assert_int_equal(
		groups_of(NULL, g->names, n_names, &g->split, g->split != NULL, NULL, &groups, &n),
		0);
	while (n_groups < ARRAY_SIZE(g->groups) && g->groups[n_groups].name)
		n_groups++;
	assert_int_equal(n, n_groups);
	for (uint32_t i = 0; i < n; i++)
		check_members(&groups[i], g->groups[i].name, g->groups[i].members);
	lp_peer_groups_free(groups, n);
}

/* Interfaces by name, if enough observers have it; connections by direction. */
static void test_kinds_divided(void **state)
{
	(void)state;
	check_grouping(
		&(struct grouping){.names = {"a/net:ib0", "a/net:eth0", "b/net:ib0", "b/net:eth0",
					   "c/net:ib0", "c/net:eno1", "a/tcp:10.0.0.1:in",
					   "b/tcp:10.0.0.1:out", "c/tcp:10.0.0.1:in"},
			.groups = {{"net ib0", "0,2,4"}, {"net", "1,3,5"}, {"tcp in", "6,8"},
				{"tcp out", "7"}}});
}

/* Processes by their name; the clients' view of a server apart from single connections. */
static void test_traced(void **state)
{
	(void)state;
	check_grouping(&(struct grouping){
		.names = {"s1/sys:glusterfsd", "s2/sys:glusterfsd", "s1/sys:glusterd", "c1/sys:dd",
			"s1/peer:clients", "s2/peer:clients", "c1/peer:10.0.0.9:24007"},
		.groups = {{"sys glusterfsd", "0,1"}, {"sys glusterd", "2"}, {"sys dd", "3"},
			{"peer clients", "4,5"}, {"peer", "6"}}});
}

static void test_split_by_observer(void **state)
{
	(void)state;
	check_grouping(&(struct grouping){
		.names = {"a/disk:1", "b/disk:1", "a/disk:2", "b/disk:2", "a/disk:3"},
		.split = "observer",
		.groups = {{"disk observer=a", "0,2,4"}, {"disk observer=b", "1,3"}}});
}

static void test_split_by_what_nobody_has(void **state)
{
	(void)state;
	check_grouping(&(struct grouping){.names = {"a/disk:1", "b/disk:1", "c/disk:1"},
		.split = "priority",
		.groups = {{"disk priority=(none)", "0,1,2"}}});
}

#define N_SERVERS 8
#define N_FUNCTIONS 1000

/* Function by function: each is compared with itself on the other servers. */
static void test_by_name(void **state)
{
	struct lp_identity **components =
		calloc(N_SERVERS * N_FUNCTIONS, sizeof(struct lp_identity *));
	struct lp_peer_group *groups;
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < N_SERVERS * N_FUNCTIONS; i++)
		components[i] = identity_printf(
			"oss%u/function:glusterfsd:f%u", i / N_FUNCTIONS, i % N_FUNCTIONS);
	assert_int_equal(topology_groups(NULL, components, N_SERVERS * N_FUNCTIONS, NULL, 0, NULL,
				 &groups, &n, NULL),
		0);
	assert_int_equal(n, N_FUNCTIONS);
	assert_string_equal(groups[0].name, "function glusterfsd:f0");
	assert_string_equal(groups[999].name, "function glusterfsd:f999");
	for (uint32_t g = 0; g < n; g++) {
		assert_int_equal(groups[g].n_members, N_SERVERS);
		assert_null(groups[g].refused);
		for (uint32_t i = 0; i < N_SERVERS; i++)
			assert_int_equal(groups[g].members[i], i * N_FUNCTIONS + g);
	}
	lp_peer_groups_free(groups, n);
	lp_identities_free(components, N_SERVERS * N_FUNCTIONS);
}

static void test_nothing(void **state)
{
	struct warnings warnings = {0};
	struct lp_warn warn = {.warn = take, .ctx = &warnings};
	struct lp_peer_group *groups;
	uint32_t n;

	(void)state;
	assert_int_equal(topology_groups(NULL, NULL, 0, NULL, 0, &warn, &groups, &n, NULL), 0);
	assert_int_equal(n, 0);
	assert_int_equal(warnings.n, 0);
	lp_peer_groups_free(groups, n);
}

static void check_own(const char *component, const char *attribute, const char *value)
{
	char buf[64];

	assert_string_equal(
		topology_attribute(NULL, identity_of(component), attribute, buf, sizeof(buf)),
		value);
}

static void test_own_attributes(void **state)
{
	char buf[64];

	(void)state;
	check_own("node1:9100/disk:sda", "observer", "node1:9100");
	check_own("node1:9100/disk:sda", "kind", "disk");
	check_own("node1:9100/disk:cciss/c0:d0", "name", "cciss/c0:d0");
	check_own("plain", "observer", "");
	check_own("plain", "kind", "plain");
	assert_null(
		topology_attribute(NULL, identity_of("a/disk:b"), "controller", buf, sizeof(buf)));
	assert_string_equal(topology_parts(NULL)[0], "observer");
	assert_null(topology_parts(NULL)[1]);
	assert_null(topology_issuer(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_kind),
		cmocka_unit_test(test_kinds_divided),
		cmocka_unit_test(test_traced),
		cmocka_unit_test(test_split_by_observer),
		cmocka_unit_test(test_split_by_what_nobody_has),
		cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_own_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
