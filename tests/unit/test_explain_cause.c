#include "explain_rig.h"

#include "explain/cause.h"

/* Four servers with a disk, an interface and connections of two clients each. */
static void make_cluster(struct rig *r)
{
	static const struct {
		const char *kind, *metric;
	} metrics[] = {{"disk", "rd_sec"}, {"disk", "wr_sec"}, {"disk", "await"}, {"net", "rxbyt"},
		{"net", "txbyt"}, {"net", "rxerr"}, {"tcp", "cwnd"}};

	rig_init(r, 40);
	rig_disks(r, 4);
	for (int i = 1; i <= 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%d/net:eth0", i);
		rig_add(r, "net", name);
		for (int c = 1; c <= 2; c++) {
			snprintf(name, sizeof(name), "oss%d/tcp:10.0.1.%d:in", i, c);
			rig_add(r, "tcp", name);
		}
	}
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		rig_metric(r, metrics[i].kind, metrics[i].metric);
}

static void find_above(struct rig *r, const char *component, const char *metric, double times)
{
	rig_find(r, component, metric, LP_MARK_ABOVE, 1e6 * times, 1e6, 5, 39);
}

/* No value but 0 in a metric of a server's connections. */
static void rig_quiet(struct rig *r, uint32_t server, const char *metric)
{
	struct lp_table *t = r->v->tables[rig_metric_find(r, metric)];
	char observer[16];

	snprintf(observer, sizeof(observer), "oss%u", server);
	for (uint32_t c = 0; c < t->n_components; c++) {
		for (uint32_t i = 0; i < t->n_slots; i++) {
			if (!strcmp(t->components[c]->observer, observer))
				t->values[(size_t)c * t->n_slots + i] = 0;
		}
	}
}

static void find_cwnd(struct rig *r, double times)
{
	rig_find(r, "oss2/tcp:10.0.1.1:in", "cwnd", LP_MARK_BELOW, 64 * times, 64, 5, 39);
	rig_find(r, "oss2/tcp:10.0.1.2:in", "cwnd", LP_MARK_BELOW, 64 * times, 64, 5, 39);
}

static void test_storage(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	find_above(&r, "oss1/disk:sdb", "await", 4);
	find_above(&r, "oss2/disk:sdb", "await", 4);
	find_above(&r, "oss2/disk:sdb", "wr_sec", 3);
	find_above(&r, "oss3/disk:sdb", "rd_sec", 3);
	/* The asymmetry of the latency is much larger than that of the little more work. */
	find_above(&r, "oss4/disk:sdb", "await", 30);
	find_above(&r, "oss4/disk:sdb", "rd_sec", 1.3);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss1/disk:sdb"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/disk:sdb"), "disk-hog");
	assert_string_equal(rig_cause(&r, "oss3/disk:sdb"), "disk-hog");
	assert_string_equal(rig_cause(&r, "oss4/disk:sdb"), "disk-busy");
	rig_release(&r);
}

/* The level of a metric of all components whose names contain a text. */
static void set_levels(const struct rig *r, const char *text, const char *metric, double value)
{
	struct lp_table *t = r->v->tables[rig_metric_find(r, metric)];

	for (uint32_t c = 0; c < t->n_components; c++) {
		for (uint32_t i = 0; i < t->n_slots; i++) {
			if (strstr(t->components[c]->text, text))
				t->values[(size_t)c * t->n_slots + i] = value;
		}
	}
}

/* The papers' three rules about rxbyt, txbyt and cwnd. */
static void test_network(void **state)
{
	static const struct {
		double rx, tx, cwnd;
		const char *cause;
	} cases[] = {
		{3, 3, 0, "network-hog"},
		{3, 3, 0.5, "network-hog"},
		{3, 0, 0, "network-hog"},
		{0, 3, 0, "network-hog"},
		{3, 0, 0.5, "packet-loss"}, /* acknowledgements, beside much more */
		{0, 2, 0.2, "packet-loss"},
		{0, 0, 0.2, "packet-loss"},
		/* A much smaller window than a little more traffic can explain. */
		{1.5, 1.5, 0.05, "packet-loss"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		make_cluster(&r);
		set_levels(&r, "/net:eth0", "rxbyt", 1e7);
		set_levels(&r, "/net:eth0", "txbyt", 1e7);
		if (cases[i].rx > 0)
			find_above(&r, "oss2/net:eth0", "rxbyt", cases[i].rx);
		if (cases[i].tx > 0)
			find_above(&r, "oss2/net:eth0", "txbyt", cases[i].tx);
		if (cases[i].cwnd > 0)
			find_cwnd(&r, cases[i].cwnd);
		rig_explain(&r);
		for (uint32_t s = 0; s < r.v->n_suspects; s++)
			assert_string_equal(r.v->suspects[s].cause, cases[i].cause);
		rig_expect_incidents(&r, 1);
		rig_release(&r);
	}
}

static void test_retransmits_and_errors(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	rig_metric(&r, "tcp", "retrans");
	rig_find(&r, "oss1/tcp:10.0.1.1:in", "retrans", LP_MARK_ABOVE, 40, 0, 5, 39);
	rig_find(&r, "oss3/net:eth0", "rxerr", LP_MARK_ABOVE, 12, 0, 5, 39);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss1/tcp:10.0.1.1:in"), "packet-loss");
	assert_string_equal(rig_cause(&r, "oss3/net:eth0"), "bad-link");
	rig_release(&r);
}

/* No client asked for most of what is received: a smaller window follows from it, unless the disk
 * works as much more as the interface, or there is next to no traffic. */
static void test_window_of_a_full_link(void **state)
{
	static const struct {
		double received; /* by its peers; it receives four times as much */
		double written;	 /* its peers: 10 */
		const char *cause;
	} cases[] = {
		{1e6, 10, "network-hog"},
		{1e6, 13, "network-hog"},
		{1e6, 40, "packet-loss"},
		{100, 10, "packet-loss"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		make_cluster(&r);
		set_levels(&r, "/net:eth0", "rxbyt", cases[i].received);
		set_levels(&r, "/disk:sdb", "wr_sec", 1e7);
		set_levels(&r, "oss2/disk:sdb", "wr_sec", 1e6 * cases[i].written);
		set_levels(&r, "oss2/net:eth0", "rxbyt", 4 * cases[i].received);
		rig_find(&r, "oss2/net:eth0", "rxbyt", LP_MARK_ABOVE, 4 * cases[i].received,
			cases[i].received, 5, 39);
		find_cwnd(&r, 0.4);
		rig_explain(&r);
		for (uint32_t s = 0; s < r.v->n_suspects; s++)
			assert_string_equal(r.v->suspects[s].cause, cases[i].cause);
		rig_release(&r);
	}
}

/* Traffic that is less than twice that of the peers is no finding, but it can fill a link, and then
 * packets are lost. */
static void test_full_link(void **state)
{
	static const struct {
		double received, written; /* its peers: 10 */
		const char *cause;
	} cases[] = {
		{10, 10, "packet-loss"},
		{12, 10, "packet-loss"}, /* a sixth: too little to be the reason */
		{19, 10, "network-hog"}, {19, 19, "packet-loss"}, /* clients write more there */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		make_cluster(&r);
		rig_metric(&r, "tcp", "retrans");
		set_levels(&r, "/net:eth0", "rxbyt", 1e7);
		set_levels(&r, "/disk:sdb", "wr_sec", 1e7);
		set_levels(&r, "oss2/net:eth0", "rxbyt", 1e6 * cases[i].received);
		set_levels(&r, "oss2/disk:sdb", "wr_sec", 1e6 * cases[i].written);
		rig_find(&r, "oss2/tcp:10.0.1.1:in", "retrans", LP_MARK_ABOVE, 40, 0, 5, 39);
		rig_explain(&r);
		assert_string_equal(rig_cause(&r, "oss2/tcp:10.0.1.1:in"), cases[i].cause);
		rig_release(&r);
	}
}

/* A small congestion window with retransmits beside it, and one that nothing is sent again for. */
static void test_windows_without_loss(void **state)
{
	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct rig r;

		make_cluster(&r);
		rig_metric(&r, "tcp", "retrans");
		for (uint32_t i = 1; i <= 4; i++)
			rig_quiet(&r, i, "retrans");
		find_cwnd(&r, 0.2);
		if (lost)
			rig_find(&r, "oss2/tcp:10.0.1.1:in", "retrans", LP_MARK_ABOVE, 4, 0, 5, 39);
		rig_explain(&r);
		assert_int_equal(r.v->n_suspects > 0, lost);
		for (uint32_t s = 0; s < r.v->n_suspects; s++)
			assert_string_equal(r.v->suspects[s].cause, "packet-loss");
		rig_release(&r);
	}
}

/* With trained thresholds a few seconds of a small window are the edge of something that passed. */
static void test_passing_window(void **state)
{
	(void)state;
	for (int lasting = 0; lasting < 2; lasting++) {
		struct rig r;

		make_cluster(&r);
		r.v->trained = true;
		r.v->tables[rig_metric_find(&r, "cwnd")]->step_us = 1000000;
		rig_find(&r, "oss2/tcp:10.0.1.1:in", "cwnd", LP_MARK_BELOW, 8, 64, 5,
			lasting ? 39 : 9);
		rig_explain(&r);
		assert_int_equal(r.v->n_suspects, lasting);
		rig_release(&r);
	}
}

/* Packets are sent again because the link is full of what its peers do not have; a little more
 * traffic explains nothing. */
static void test_flooded_link(void **state)
{
	static const struct {
		double times;
		const char *cause;
	} cases[] = {{3, "network-hog"}, {1.2, "packet-loss"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		make_cluster(&r);
		rig_metric(&r, "tcp", "retrans");
		set_levels(&r, "/net:eth0", "rxbyt", 1e6);
		find_above(&r, "oss2/net:eth0", "rxbyt", cases[i].times);
		rig_find(&r, "oss2/tcp:10.0.1.1:in", "retrans", LP_MARK_ABOVE, 40, 0, 5, 39);
		rig_explain(&r);
		for (uint32_t s = 0; s < r.v->n_suspects; s++)
			assert_string_equal(r.v->suspects[s].cause, cases[i].cause);
		rig_release(&r);
	}
}

/* A slow disk makes the traffic of its server odd, and not the other way round. */
static void test_storage_outranks_network(void **state)
{
	const struct lp_incident *incident;
	struct rig r;

	(void)state;
	make_cluster(&r);
	find_above(&r, "oss2/disk:sdb", "await", 4);
	find_cwnd(&r, 0.3);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/disk:sdb"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/tcp:10.0.1.1:in"), "disk-busy");
	rig_expect_incidents(&r, 1);
	incident = rig_incident(&r, "oss2/disk:sdb");
	assert_non_null(incident);
	assert_string_equal(incident->cause, "disk-busy");
	assert_int_equal(incident->n_components, 3);
	rig_release(&r);
}

static void test_much_larger_network_outranks(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	find_above(&r, "oss2/disk:sdb", "await", 1.4);
	find_cwnd(&r, 0.04);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/disk:sdb"), "packet-loss");
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].cause, "packet-loss");
	rig_release(&r);
}

/* Trouble of two servers, or at two times, does not explain each other. */
static void test_unrelated(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	rig_find(&r, "oss2/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 1, 12);
	rig_find(&r, "oss2/net:eth0", "rxbyt", LP_MARK_ABOVE, 4e6, 1e6, 20, 39);
	rig_find(&r, "oss3/net:eth0", "txbyt", LP_MARK_ABOVE, 4e6, 1e6, 1, 12);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/disk:sdb"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/net:eth0"), "network-hog");
	assert_string_equal(rig_cause(&r, "oss3/net:eth0"), "network-hog");
	rig_expect_incidents(&r, 3);
	rig_release(&r);
}

/* The cluster with data about its processors and queues. */
static void make_hosts(struct rig *r)
{
	make_cluster(r);
	for (int i = 1; i <= 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%d/host:host", i);
		rig_add(r, "host", name);
	}
	rig_metric(r, "host", "psi_cpu");
	rig_metric(r, "tcp", "unread");
}

static void find_unread(struct rig *r)
{
	rig_find(r, "oss2/tcp:10.0.1.1:in", "unread", LP_MARK_ABOVE, 100, 0, 5, 39);
	rig_find(r, "oss2/tcp:10.0.1.2:in", "unread", LP_MARK_ABOVE, 100, 0, 5, 39);
}

static void test_lack_of_cpu(void **state)
{
	struct rig r;

	(void)state;
	make_hosts(&r);
	rig_find(&r, "oss2/host:host", "psi_cpu", LP_MARK_ABOVE, 40, 5, 5, 39);
	find_unread(&r);
	find_above(&r, "oss3/disk:sdb", "await", 4);
	rig_find(&r, "oss3/host:host", "psi_cpu", LP_MARK_ABOVE, 40, 5, 5, 39);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/host:host"), "cpu-hog");
	assert_string_equal(rig_cause(&r, "oss2/tcp:10.0.1.1:in"), "cpu-hog");
	assert_string_equal(rig_cause(&r, "oss3/host:host"), "disk-busy");
	rig_expect_incidents(&r, 2);
	rig_release(&r);
}

/* A server that reads nothing has idle disks and interfaces, and is the one to look at. */
static void test_hung(void **state)
{
	const struct lp_incident *incident;
	struct rig r;

	(void)state;
	make_hosts(&r);
	find_unread(&r);
	rig_find(&r, "oss2/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 5e3, 5, 39);
	rig_find(&r, "oss2/net:eth0", "rxbyt", LP_MARK_ABSENT, 0, 5e6, 5, 39);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/tcp:10.0.1.1:in"), "server-hung");
	rig_expect_incidents(&r, 1);
	incident = &r.v->incidents[0];
	assert_string_equal(incident->part, "observer:oss2");
	assert_string_equal(incident->cause, "server-hung");
	rig_release(&r);
}

/* A slow disk keeps its server from reading, however many connections show it. */
static void test_slow_disk_is_not_hung(void **state)
{
	struct rig r;

	(void)state;
	make_hosts(&r);
	find_unread(&r);
	find_above(&r, "oss2/disk:sdb", "await", 1.4);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/tcp:10.0.1.1:in"), "disk-busy");
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

/* Each dwarfed by the next but one: they are one incident all the same. */
static void test_ring(void **state)
{
	struct rig r;

	(void)state;
	make_hosts(&r);
	find_above(&r, "oss2/disk:sdb", "await", 1.6);
	rig_find(&r, "oss2/host:host", "psi_cpu", LP_MARK_ABOVE, 40, 0, 5, 39);
	find_cwnd(&r, 0.05);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

static void test_asymmetries(void **state)
{
	struct rig r;

	(void)state;
	make_cluster(&r);
	rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_BELOW, 2, 10, 1, 39)->culprit = false;
	rig_find(&r, "oss2/disk:sdb", "wr_sec", LP_MARK_BELOW, 2e3, 9e3, 1, 39)->culprit = false;
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 20, 10, 1, 39)->explained_by_load =
		true;
	rig_find(&r, "oss4/disk:sdb", "rd_sec", LP_MARK_ABOVE, 9e3, 2e3, 1, 39)->culprit = false;
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 0);
	assert_int_equal(r.v->n_incidents, 0);
	assert_string_equal(rig_asymmetry(&r, "oss1/disk:sdb"), "faster");
	assert_string_equal(rig_asymmetry(&r, "oss2/disk:sdb"), "less-loaded");
	assert_string_equal(rig_asymmetry(&r, "oss3/disk:sdb"), "imbalanced");
	assert_string_equal(rig_asymmetry(&r, "oss4/disk:sdb"), "imbalanced");
	rig_release(&r);
}

static void test_absent_and_unknown(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 20);
	rig_disks(&r, 4);
	rig_add(&r, "host", "oss1/host:cpu");
	rig_add(&r, "host", "oss2/host:cpu");
	rig_add(&r, "host", "oss3/host:cpu");
	rig_metric(&r, "disk", "rd_sec");
	rig_metric(&r, "host", "load1");
	rig_find(&r, "oss4/disk:sdb", "rd_sec", LP_MARK_ABSENT, 0, 5e3, 3, 19)->culprit = false;
	rig_find(&r, "oss1/host:cpu", "load1", LP_MARK_ABOVE, 30, 2, 3, 19);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss4/disk:sdb"), "lost-path");
	assert_string_equal(rig_cause(&r, "oss1/host:cpu"), "unknown");
	rig_release(&r);
}

static void test_every_cause_is_told(void **state)
{
	(void)state;
	for (const struct cause *const *c = causes; *c; c++) {
		assert_ptr_equal(cause_find((*c)->name), *c);
		assert_true(strlen((*c)->advice) > 20);
		assert_int_equal((*c)->advice[strlen((*c)->advice) - 1], '.');
	}
	assert_ptr_equal(cause_find("nonsense"), &cause_unknown);
}

/* Four servers that were traced, and recorded as well if `devices`. */
static void make_traced(struct rig *r, bool devices)
{
	if (devices)
		make_cluster(r);
	else
		rig_init(r, 40);
	for (int i = 1; i <= 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%d/sys:glusterfsd", i);
		rig_add(r, "sys glusterfsd", name);
	}
	for (int i = 1; i <= 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%d/peer:clients", i);
		rig_add(r, "peer clients", name);
	}
}

static void add_call_metrics(struct rig *r)
{
	rig_metric(r, "sys", "dread");
	rig_metric(r, "sys", "dwrite");
	rig_metric(r, "sys", "nsread");
	rig_metric(r, "peer", "ncread");
}

/* Calls alone: to storage, over the network, or both. */
static void test_calls(void **state)
{
	struct rig r;

	(void)state;
	make_traced(&r, false);
	add_call_metrics(&r);
	find_above(&r, "oss1/sys:glusterfsd", "dread", 4);
	find_above(&r, "oss2/sys:glusterfsd", "nsread", 4);
	find_above(&r, "oss3/peer:clients", "ncread", 4);
	find_above(&r, "oss4/sys:glusterfsd", "dwrite", 4);
	find_above(&r, "oss4/sys:glusterfsd", "nsread", 8);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss1/sys:glusterfsd"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/sys:glusterfsd"), "slow-network");
	assert_string_equal(rig_cause(&r, "oss3/peer:clients"), "slow-network");
	/* Storage outranks the network, unless that is much worse. */
	assert_string_equal(rig_cause(&r, "oss4/sys:glusterfsd"), "disk-busy");
	rig_release(&r);
	make_traced(&r, false);
	add_call_metrics(&r);
	find_above(&r, "oss4/sys:glusterfsd", "dwrite", 1.5);
	find_above(&r, "oss4/sys:glusterfsd", "nsread", 30);
	find_above(&r, "oss4/peer:clients", "ncread", 30);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss4/sys:glusterfsd"), "slow-network");
	assert_string_equal(rig_cause(&r, "oss4/peer:clients"), "slow-network");
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

/* What devices show says why calls are slow, whatever is larger; it is one incident. */
static void test_calls_and_devices(void **state)
{
	static const struct {
		const char *device, *metric, *component, *call, *cause;
	} cases[] = {
		{"oss2/disk:sdb", "await", "oss2/sys:glusterfsd", "dread", "disk-busy"},
		{"oss2/net:eth0", "rxbyt", "oss2/sys:glusterfsd", "nsread", "network-hog"},
		{"oss2/net:eth0", "rxbyt", "oss2/sys:glusterfsd", "dwrite", "network-hog"},
		{"oss2/net:eth0", "rxerr", "oss2/peer:clients", "ncread", "bad-link"},
		{"oss2/disk:sdb", "await", "oss2/peer:clients", "ncread", "disk-busy"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		make_traced(&r, true);
		for (uint32_t t = 0; t < r.v->n_tables; t++) /* for the components added since */
			r.v->row_of[t] = reallocarray(
				r.v->row_of[t], r.v->n_components + 1, sizeof(uint32_t));
		for (uint32_t t = 0; t < r.v->n_tables; t++) {
			for (uint32_t c = r.v->n_components - 8; c < r.v->n_components; c++)
				r.v->row_of[t][c] = UINT32_MAX;
		}
		add_call_metrics(&r);
		find_above(&r, cases[i].device, cases[i].metric, 3);
		find_above(&r, cases[i].component, cases[i].call, 200);
		rig_explain(&r);
		assert_string_equal(rig_cause(&r, cases[i].device), cases[i].cause);
		assert_string_equal(rig_cause(&r, cases[i].component), cases[i].cause);
		rig_expect_incidents(&r, 1);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_and_devices),
		cmocka_unit_test(test_retransmits_and_errors),
		cmocka_unit_test(test_full_link),
		cmocka_unit_test(test_window_of_a_full_link),
		cmocka_unit_test(test_windows_without_loss),
		cmocka_unit_test(test_passing_window),
		cmocka_unit_test(test_flooded_link),
		cmocka_unit_test(test_storage_outranks_network),
		cmocka_unit_test(test_much_larger_network_outranks),
		cmocka_unit_test(test_unrelated),
		cmocka_unit_test(test_lack_of_cpu),
		cmocka_unit_test(test_hung),
		cmocka_unit_test(test_slow_disk_is_not_hung),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_asymmetries),
		cmocka_unit_test(test_absent_and_unknown),
		cmocka_unit_test(test_every_cause_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
