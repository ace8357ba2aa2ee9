/* Whose work a disk does: what the interfaces of its server did not carry, no client asked for. */
#include "detect_rig.h"

static const struct detect_options by_itself = {0};

#define BUSY 2
#define SECTOR 512
#define MB 1000000.0

/* What each server does, in bytes per second, and BUSY besides, from the third minute on. */
struct fleet {
	double disk, received, sent; /* all servers */
	double more_disk, more_sent; /* BUSY */
};

static double *add_of(
	struct rig *r, const char *metric, const char *unit, double level, const char *component)
{
	double *values = rig_add_noise(r, metric, unit, level, 0.1);
	struct lp_table *t = r->tables[r->n_tables - 1];

	for (uint32_t i = 0; i < r->n_components; i++) {
		lp_identity_unref(t->components[i]);
		t->components[i] = identity_printf("oss%u/%s", i, component);
	}
	return values;
}

static void more(const struct rig *r, double *values, double by)
{
	for (uint32_t s = 120; s < r->n_slots; s++)
		values[(size_t)BUSY * r->n_slots + s] += by * (0.9 + 0.2 * oracle_uniform());
}

/* Is the disk of BUSY accused? It differs in any case: the rule decides, not the comparison. */
static bool accused(const struct fleet *f)
{
	struct rig r;
	double *disk;
	bool ret;

	rig_init(&r, 6, 300);
	disk = rig_add_noise(&r, "rd_sec", "sectors/s", f->disk / SECTOR, 0.1);
	more(&r, disk, f->more_disk / SECTOR);
	if (f->received > 0) {
		add_of(&r, "rxbyt", "bytes/s", f->received, "net:eth0");
		more(&r, add_of(&r, "txbyt", "bytes/s", f->sent, "net:eth0"), f->more_sent);
	}
	rig_run(&r, &by_itself);
	assert_non_null(rig_finding(r.verdict, BUSY, "rd_sec"));
	ret = rig_accused(r.verdict, BUSY);
	assert_true(rig_n_accused(r.verdict) == ret);
	rig_release(&r);
	return ret;
}

static void test_local_work(void **state)
{
	(void)state;
	assert_true(accused(&(struct fleet){
		.disk = 6 * MB, .received = 0.1 * MB, .sent = 6 * MB, .more_disk = 21 * MB}));
}

/* A cold cache: its peers send the same without reading it. */
static void test_sent_is_read(void **state)
{
	(void)state;
	assert_false(accused(&(struct fleet){
		.disk = 6 * MB, .received = 0.1 * MB, .sent = 40 * MB, .more_disk = 21 * MB}));
}

static void test_clients_ask_for_more(void **state)
{
	(void)state;
	assert_false(accused(&(struct fleet){.disk = 6 * MB,
		.received = 0.1 * MB,
		.sent = 6 * MB,
		.more_disk = 21 * MB,
		.more_sent = 21 * MB}));
}

/* It is more than the server carries, but less than what its clients have it do. */
static void test_little_more(void **state)
{
	(void)state;
	assert_false(accused(&(struct fleet){
		.disk = 30 * MB, .received = 0.1 * MB, .sent = 18 * MB, .more_disk = 20 * MB}));
}

/* Clients use another network, which was not recorded. */
static void test_another_way(void **state)
{
	(void)state;
	assert_false(accused(&(struct fleet){
		.disk = 60 * MB, .received = 0.1 * MB, .sent = 0.2 * MB, .more_disk = 200 * MB}));
}

/* Nobody uses these disks: a backup of one hurts no client. */
static void test_without_clients(void **state)
{
	(void)state;
	assert_false(accused(&(struct fleet){
		.disk = 0.01 * MB, .received = 0.1 * MB, .sent = 6 * MB, .more_disk = 21 * MB}));
}

static void test_no_interfaces(void **state)
{
	(void)state;
	assert_false(accused(&(struct fleet){.disk = 6 * MB, .more_disk = 21 * MB}));
}

static void add_bond(struct rig *r, double second_link)
{
	double *first = add_of(r, "rxbyt", "bytes/s", 20 * MB, "net:eth0");
	double *second;

	more(r, first, 30 * MB);
	/* The other link of each server, in a table of its own. */
	second = add_of(r, "txbyt", "bytes/s", 30 * MB, "net:eth1");
	rig_scale(r, second, BUSY, 120, second_link);
}

static bool bond_accused(double second_link)
{
	struct rig r;
	bool ret = false;

	rig_init(&r, 6, 300);
	add_bond(&r, second_link);
	rig_run(&r, &by_itself);
	for (uint32_t i = 0; i < r.verdict->n_components; i++)
		ret |= rig_accused(r.verdict, i);
	rig_release(&r);
	return ret;
}

static void test_other_link(void **state)
{
	(void)state;
	assert_false(bond_accused(0.05)); /* eth0 carries what eth1 did */
	assert_true(bond_accused(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_work),
		cmocka_unit_test(test_sent_is_read),
		cmocka_unit_test(test_clients_ask_for_more),
		cmocka_unit_test(test_little_more),
		cmocka_unit_test(test_another_way),
		cmocka_unit_test(test_without_clients),
		cmocka_unit_test(test_no_interfaces),
		cmocka_unit_test(test_other_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
