/* Six servers and six clients, each of which is recorded and sees its own ends of all connections.
 */
#include "unit.h"

#include "detect/detect.h"
#include "detect/group/verdict_tables.h"
#include "explain/explain.h"
#include "identity_rig.h"
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 6
#define TABLES_MAX 8

struct cluster {
	struct hosts hosts;
	struct lp_table **tables;
	uint32_t n_tables, n_slots;
	struct lp_verdict *v;
};

static void cluster_init(struct cluster *c, uint32_t n_slots)
{
	char observer[16], address[32];

	*c = (struct cluster){.n_slots = n_slots};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	c->tables = calloc(TABLES_MAX, sizeof(*c->tables));
	assert_non_null(c->tables);
	for (int i = 1; i <= N; i++) {
		snprintf(observer, sizeof(observer), "s%d", i);
		snprintf(address, sizeof(address), "10.91.1.%d", i);
		assert_int_equal(hosts_add(&c->hosts, observer, address), 0);
		snprintf(observer, sizeof(observer), "c%d", i);
		snprintf(address, sizeof(address), "10.91.2.%d", i);
		assert_int_equal(hosts_add(&c->hosts, observer, address), 0);
	}
}

static void cluster_release(struct cluster *c)
{
	lp_verdict_free(c->v);
	hosts_release(&c->hosts);
}

static struct lp_table *table_new(
	struct cluster *c, const char *metric, const char *unit, uint32_t n)
{
	struct lp_table *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	assert_true(c->n_tables < TABLES_MAX);
	*t = (struct lp_table){.metric = strdup(metric),
		.unit = strdup(unit),
		.start_us = 1000000000,
		.step_us = 1000000,
		.n_slots = c->n_slots,
		.n_components = n,
		.components = calloc(n, sizeof(struct lp_identity *)),
		.values = calloc((size_t)n * c->n_slots, sizeof(double))};
	assert_non_null(t->components);
	assert_non_null(t->values);
	c->tables[c->n_tables++] = t;
	return t;
}

/* Who sees which connection: `server` sees that of `client` (both from 1), or the other way. */
struct seen {
	int server, client;
	bool at_server;
};

typedef double (*value_fn)(const struct seen *seen, double base);

/* A metric of all connections, at both ends. */
static void add_connections(
	struct cluster *c, const char *metric, const char *unit, value_fn value, double base)
{
	struct lp_table *t = table_new(c, metric, unit, 2 * N * N);

	for (uint32_t i = 0; i < 2 * N * N; i++) {
		struct seen seen = {(int)(i / 2 / N) + 1, (int)(i / 2 % N) + 1, i % 2};

		t->components[i] = seen.at_server
			? identity_printf("s%d/tcp:10.91.2.%d:in", seen.server, seen.client)
			: identity_printf("c%d/tcp:10.91.1.%d:out", seen.client, seen.server);
		for (uint32_t s = 0; s < c->n_slots; s++)
			t->values[(size_t)i * c->n_slots + s] = value(&seen, base);
	}
}

/* Servers are also connected to each other, like those of PVFS: in every pair the first one opened
 * the connection. They carry hardly any traffic: windows stay at ten segments, and round trips are
 * those of the last request, 40 ms on some. */
static void add_mesh(struct cluster *c, uint32_t table, double base, double spread)
{
	struct lp_table *t = c->tables[table];
	uint32_t n = t->n_components;

	t->n_components = n + N * (N - 1);
	t->components = reallocarray(t->components, t->n_components, sizeof(struct lp_identity *));
	t->values =
		reallocarray(t->values, (size_t)t->n_components * c->n_slots, sizeof(*t->values));
	assert_true(t->components && t->values);
	for (int a = 1; a <= N; a++) {
		for (int b = 1; b <= N; b++) {
			double level = base * (1 + spread * oracle_uniform());

			if (a == b)
				continue;
			t->components[n] = identity_printf(
				"s%d/tcp:10.91.1.%d:%s", a, b, a < b ? "out" : "in");
			for (uint32_t s = 0; s < c->n_slots; s++)
				t->values[(size_t)n * c->n_slots + s] = level;
			n++;
		}
	}
}

/* A metric of something that every observer has one of: eth0, its CPU. */
static void add_nodes(struct cluster *c, const char *metric, const char *unit, const char *name,
	double server, double client)
{
	struct lp_table *t = table_new(c, metric, unit, 2 * N);

	for (uint32_t i = 0; i < 2 * N; i++) {
		t->components[i] =
			identity_printf("%c%d/%s", i < N ? 's' : 'c', (int)(i % N) + 1, name);
		for (uint32_t s = 0; s < c->n_slots; s++)
			t->values[(size_t)i * c->n_slots + s] =
				(i < N ? server : client) * (1 + 0.2 * oracle_uniform());
	}
}

static void seed_random(uint64_t seed)
{
	oracle_state = 88172645463325252U ^ seed * 0x9e3779b97f4a7c15U;
}

static double poisson(double mean)
{
	double limit = exp(-fmin(mean, 500)), product = oracle_uniform();
	unsigned n = 0;

	while (product > limit) {
		product *= oracle_uniform();
		n++;
	}
	return n;
}

static double loss_nowhere(const struct seen *seen, double base)
{
	(void)seen;
	return poisson(base);
}

/* Eighteen times as much with the third server, seen from any side. */
static double loss_server3(const struct seen *seen, double base)
{
	return poisson(seen->server == 3 ? 18 * base : base);
}

static double loss_client5(const struct seen *seen, double base)
{
	return poisson(seen->client == 5 ? 18 * base : base);
}

/* Windows of the clients towards the third server stay small. */
static double window_server3(const struct seen *seen, double base)
{
	double own = seen->server == 3 && !seen->at_server ? base / 8 : base;

	return own * (0.7 + 0.6 * oracle_uniform());
}

static double unread_server3(const struct seen *seen, double base)
{
	if (!seen->at_server)
		return 0;
	if (seen->server == 3)
		return 100;
	return oracle_uniform() < base ? 100 : 0;
}

static const struct lp_verdict *diagnose(struct cluster *c)
{
	struct detect_options opt = {.hosts = &c->hosts};
	struct lp_err err = {0};

	if (detect_run(c->tables, c->n_tables, &opt, &c->v, &err) < 0 ||
		explain_verdict(c->v, NULL, &c->hosts, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return c->v;
}

/* Are all suspects of this observer, and is there one at all? */
static bool only_accused(const struct lp_verdict *v, const char *observer)
{
	size_t n = strlen(observer);

	for (uint32_t i = 0; i < v->n_suspects; i++) {
		const char *name = v->components[v->suspects[i].component]->text;

		if (strncmp(name, observer, n) != 0 || name[n] != '/') {
			print_error("%s (%s) is accused\n", name, v->suspects[i].cause);
			return false;
		}
	}
	return v->n_suspects > 0;
}

static const struct lp_peer_group *find_group(const struct lp_verdict *v, const char *name)
{
	for (uint32_t i = 0; i < v->n_groups; i++) {
		if (!strcmp(v->groups[i].name, name))
			return &v->groups[i];
	}
	return NULL;
}

static double window_usual(const struct seen *seen, double base)
{
	(void)seen;
	return base * (0.7 + 0.6 * oracle_uniform());
}

/* Clients and servers, and servers that talk to each other. */
static void fill_with_mesh(struct cluster *c, value_fn retrans, value_fn window)
{
	cluster_init(c, 120);
	add_connections(c, "retrans", "1/s", retrans, 0.05);
	add_mesh(c, 0, 0, 0);
	add_connections(c, "cwnd", "segments", window, 30);
	add_mesh(c, 1, 10, 0);
	add_connections(c, "rtt", "ms", window_usual, 2);
	add_mesh(c, 2, 4, 10);
	add_nodes(c, "txbyt", "bytes/s", "net:eth0", 3e6, 2e6);
}

/* A healthy system with connections between its servers gets a clean verdict; and one that loses
 * packets is named, and no other. */
static void test_servers_talk(void **state)
{
	struct cluster c;
	const struct lp_verdict *v;

	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++) {
		seed_random(seed);
		fill_with_mesh(&c, loss_nowhere, window_usual);
		v = diagnose(&c);
		assert_int_equal(v->n_suspects, 0);
		assert_int_equal(v->n_findings, 0);
		assert_int_equal(find_group(v, "tcp all in")->n_members, N);
		assert_int_equal(find_group(v, "tcp all out")->n_members, N);
		assert_int_equal(find_group(v, "net eth0 of servers")->n_members, N);
		assert_non_null(find_group(v, "tcp servers in"));
		cluster_release(&c);
		seed_random(seed);
		fill_with_mesh(&c, loss_server3, window_server3);
		assert_true(only_accused(diagnose(&c), "s3"));
		cluster_release(&c);
	}
}

static void test_values(void **state)
{
	static const char *const names[] = {"s1/tcp:10.91.2.1:in", "c1/tcp:10.91.1.1:out",
		"s1/tcp:10.9.9.9:in", "s1/disk:sda", "c2/tcp:10.91.1.1:out"};
	struct cluster c;
	struct lp_table *counts, *windows;
	struct lp_err err;

	(void)state;
	cluster_init(&c, 2);
	counts = table_new(&c, "retrans", "1/s", 5);
	windows = table_new(&c, "cwnd", "segments", 5);
	for (uint32_t i = 0; i < 5; i++) {
		counts->components[i] = lp_identity_parse(names[i]);
		windows->components[i] = lp_identity_parse(names[i]);
		for (uint32_t s = 0; s < 2; s++)
			counts->values[2 * i + s] = windows->values[2 * i + s] = i + 1;
	}
	counts->values[2 * 4 + 1] = windows->values[2 * 4 + 1] = NAN;
	assert_int_equal(pool_connections(c.tables, c.n_tables, &c.hosts, &err), 0);
	/* Counts: both ends get those of either, and each view makes a row; other rows do not
	 * change. */
	assert_int_equal(counts->n_components, 7);
	assert_string_equal(counts->components[0]->text, "s1/tcp:all:in");
	assert_true(counts->values[0] == 1 + 2 + 5 && counts->values[1] == 1 + 2);
	assert_string_equal(counts->components[1]->text, "c1/tcp:all:out");
	assert_true(counts->values[2] == 1 + 2);
	assert_string_equal(counts->components[2]->text, "c1/tcp:peers:in");
	assert_true(counts->values[4] == 1);
	assert_string_equal(counts->components[3]->text, "s1/tcp:peers:out");
	assert_true(counts->values[6] == 2 + 5 && counts->values[7] == 2);
	assert_string_equal(counts->components[4]->text, "s1/tcp:10.9.9.9:in");
	assert_true(counts->values[8] == 3);
	assert_string_equal(counts->components[5]->text, "s1/disk:sda");
	assert_string_equal(counts->components[6]->text, "c2/tcp:all:out");
	assert_true(counts->values[12] == 5 && isnan(counts->values[13]));
	/* Windows: means, and the two views apart. */
	assert_int_equal(windows->n_components, 7);
	assert_string_equal(windows->components[3]->text, "s1/tcp:peers:out");
	assert_true(windows->values[6] == 3.5 && windows->values[7] == 2);
	for (uint32_t i = 0; i < c.n_tables; i++)
		lp_table_free(c.tables[i]);
	free(c.tables);
	cluster_release(&c);
}

#define N_PEERS 60
#define N_PEER_SLOTS 20

/* Times for a server are summed up over all clients and ports, plainly. */
static double plain_mean(const struct lp_table *times, const struct lp_table *reads,
	const char *address, uint32_t slot, bool weighed)
{
	double sum = 0, n = 0;

	for (uint32_t i = 0; i < N_PEERS; i++) {
		double t = times->values[(size_t)i * N_PEER_SLOTS + slot];
		double w = reads->values[(size_t)i * N_PEER_SLOTS + slot];

		if (!times->components[i] || !strstr(times->components[i]->text, address) ||
			isnan(t) || !(w > 0))
			continue;
		sum += t * (weighed ? w : 1);
		n += weighed ? w : 1;
	}
	return n > 0 ? sum / n : NAN;
}

static struct lp_table *table_copy(const struct lp_table *t)
{
	struct lp_table *copy = calloc(1, sizeof(*copy));
	size_t bytes = (size_t)t->n_components * t->n_slots * sizeof(double);

	assert_non_null(copy);
	*copy = *t;
	copy->metric = strdup(t->metric);
	copy->unit = strdup(t->unit);
	copy->components = calloc(t->n_components, sizeof(struct lp_identity *));
	copy->values = malloc(bytes);
	assert_true(copy->components && copy->values);
	memcpy(copy->values, t->values, bytes);
	for (uint32_t i = 0; i < t->n_components; i++) {
		copy->components[i] = lp_identity_ref(t->components[i]);
		assert_non_null(copy->components[i]);
	}
	return copy;
}

static const double *row_named(const struct lp_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (!strcmp(t->components[i]->text, name))
			return t->values + (size_t)i * t->n_slots;
	}
	return NULL;
}

/* Six clients, five servers, two ports each; the rows of the counts stand in another order. */
static void fill_peers(struct lp_table *times, struct lp_table *reads)
{
	for (uint32_t i = 0; i < N_PEERS; i++) {
		uint32_t other = N_PEERS - 1 - i;

		times->components[i] = identity_printf(
			"c%u/peer:10.91.1.%u:%u", i % 6 + 1, i / 6 % 5 + 1, i < 30 ? 24007 : 49152);
		reads->components[other] = lp_identity_ref(times->components[i]);
		for (uint32_t s = 0; s < N_PEER_SLOTS; s++) {
			bool any = oracle_below(3) && s != 7; /* no reads in second 7 */

			times->values[(size_t)i * N_PEER_SLOTS + s] =
				any ? 10 * oracle_uniform() : NAN;
			reads->values[(size_t)other * N_PEER_SLOTS + s] =
				any ? 1 + oracle_below(1000) : 0;
		}
	}
}

/* Back to the order of the other table, for the plain loop. */
static void sort_like(const struct lp_table *as, struct lp_table *t)
{
	struct lp_table *old = table_copy(t);

	for (uint32_t i = 0; i < as->n_components; i++)
		memcpy(t->values + (size_t)i * t->n_slots, row_named(old, as->components[i]->text),
			t->n_slots * sizeof(double));
	lp_table_free(old);
}

static void test_peers(void **state)
{
	static const char *const metrics[][2] = {
		{"ncread", "other"}, {"ncread", "ncreads"}, {"answer", "answers"}};

	(void)state;
	for (int n = 0; n < 3; n++) {
		struct cluster c;
		struct lp_table *times, *reads, *old_times, *old_reads;
		bool weighed = n > 0;
		struct lp_err err;

		cluster_init(&c, N_PEER_SLOTS);
		reads = table_new(&c, metrics[n][1], "1/s", N_PEERS);
		times = table_new(&c, metrics[n][0], "ms", N_PEERS);
		fill_peers(times, reads);
		old_times = table_copy(times);
		old_reads = table_copy(reads);
		sort_like(old_times, old_reads);
		assert_int_equal(pool_connections(c.tables, c.n_tables, &c.hosts, &err), 0);
		assert_int_equal(times->n_components, 5);
		assert_int_equal(reads->n_components, 5);
		for (uint32_t i = 1; i <= 5; i++) {
			char name[32], address[32];
			const double *row;

			snprintf(name, sizeof(name), "s%u/peer:clients", i);
			snprintf(address, sizeof(address), ":10.91.1.%u:", i);
			row = row_named(times, name);
			assert_non_null(row);
			for (uint32_t s = 0; s < N_PEER_SLOTS; s++) {
				double e = plain_mean(old_times, old_reads, address, s, weighed);

				assert_int_equal(isnan(e), isnan(row[s]));
				assert_true(isnan(e) || fabs(e - row[s]) < 1e-9);
			}
			assert_true(isnan(row[7]));
		}
		lp_table_free(old_times);
		lp_table_free(old_reads);
		for (uint32_t i = 0; i < c.n_tables; i++)
			lp_table_free(c.tables[i]);
		free(c.tables);
		cluster_release(&c);
	}
}

/* An unknown host has its address as its name; connections of a host with itself stay. */
static void test_peers_unknown(void **state)
{
	struct cluster c;
	struct lp_table *t;
	struct lp_err err;

	(void)state;
	cluster_init(&c, 1);
	t = table_new(&c, "ncread", "ms", 3);
	t->components[0] = lp_identity_parse("c1/peer:192.0.2.1:24007");
	t->components[1] = lp_identity_parse("s1/peer:10.91.1.1:24007");
	t->components[2] = lp_identity_parse("c1/peer:10.91.1.2:24007");
	t->values[0] = 1;
	t->values[1] = 2;
	t->values[2] = 3;
	assert_int_equal(pool_connections(c.tables, c.n_tables, &c.hosts, &err), 0);
	assert_int_equal(t->n_components, 3);
	assert_string_equal(t->components[0]->text, "192.0.2.1/peer:clients");
	assert_string_equal(t->components[1]->text, "s1/peer:10.91.1.1:24007");
	assert_string_equal(t->components[2]->text, "s2/peer:clients");
	assert_true(t->values[0] == 1 && t->values[1] == 2 && t->values[2] == 3);
	lp_table_free(t);
	free(c.tables);
	cluster_release(&c);
}

static void test_roles(void **state)
{
	const struct lp_verdict *v;
	struct cluster c;

	(void)state;
	seed_random(3);
	cluster_init(&c, 300);
	add_connections(&c, "retrans", "1/s", loss_nowhere, 0.01);
	add_nodes(&c, "rxbyt", "bytes/s", "net:eth0", 12e6, 1e5);
	add_nodes(&c, "psi_cpu", "%", "host:cgroup", 2, 30);
	v = diagnose(&c);
	assert_int_equal(v->n_suspects, 0);
	assert_int_equal(v->n_asymmetries, 0);
	assert_int_equal(v->n_groups, 8);
	assert_int_equal(find_group(v, "tcp all in")->n_members, N);
	assert_int_equal(find_group(v, "tcp all out")->n_members, N);
	assert_int_equal(find_group(v, "tcp peers in")->n_members, N);
	assert_int_equal(find_group(v, "tcp peers out")->n_members, N);
	assert_int_equal(find_group(v, "net eth0 of servers")->n_members, N);
	assert_int_equal(find_group(v, "net eth0 of clients")->n_members, N);
	assert_int_equal(find_group(v, "host cgroup of servers")->n_members, N);
	assert_int_equal(find_group(v, "host cgroup of clients")->n_members, N);
	cluster_release(&c);
}

/* Nine retransmits a server in 85 s, and 164 at the bad one: about one in ten minutes for each
 * connection that is sound. */
static void test_few_retransmits(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		static const value_fn losses[] = {loss_server3, loss_client5, loss_nowhere};
		static const char *const guilty[] = {"s3", "c5", NULL};

		for (int i = 0; i < 3; i++) {
			const struct lp_verdict *v;
			struct cluster c;

			seed_random(seed);
			cluster_init(&c, 85);
			add_connections(&c, "retrans", "1/s", losses[i], 9.0 / 85 / 2 / N);
			v = diagnose(&c);
			if (guilty[i])
				assert_true(only_accused(v, guilty[i]));
			else
				assert_int_equal(v->n_suspects, 0);
			for (uint32_t k = 0; k < v->n_suspects; k++)
				assert_string_equal(v->suspects[k].cause, "packet-loss");
			cluster_release(&c);
		}
	}
}

static void test_many_retransmits(void **state)
{
	const struct lp_verdict *v;
	struct cluster c;

	(void)state;
	seed_random(1);
	cluster_init(&c, 300);
	add_connections(&c, "retrans", "1/s", loss_server3, 1);
	add_connections(&c, "cwnd", "segments", window_server3, 80);
	v = diagnose(&c);
	assert_true(only_accused(v, "s3"));
	assert_int_equal(v->n_incidents, 1);
	assert_string_equal(v->incidents[0].part, "observer:s3");
	assert_string_equal(v->incidents[0].cause, "packet-loss");
	cluster_release(&c);
}

static void test_hung_server(void **state)
{
	const struct lp_verdict *v;
	struct cluster c;

	(void)state;
	seed_random(1);
	cluster_init(&c, 300);
	add_connections(&c, "unread", "%", unread_server3, 0.2);
	v = diagnose(&c);
	assert_true(only_accused(v, "s3"));
	assert_string_equal(v->suspects[0].cause, "server-hung");
	cluster_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_servers_talk),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_peers_unknown),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_few_retransmits),
		cmocka_unit_test(test_many_retransmits),
		cmocka_unit_test(test_hung_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
