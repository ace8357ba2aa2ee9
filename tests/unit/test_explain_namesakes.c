/* Another sort of device in every server. */
#include "explain_rig.h"

/* Six servers, each with the disks sdb to sde. */
static void rig_servers(struct rig *r, uint32_t n_servers, uint32_t n_disks)
{
	rig_init(r, 80);
	for (uint32_t s = 1; s <= n_servers; s++) {
		for (uint32_t d = 0; d < n_disks; d++) {
			char group[64], name[64];

			snprintf(group, sizeof(group), "disk observer=oss%u", s);
			snprintf(name, sizeof(name), "oss%u/disk:sd%c", s, 'b' + (char)d);
			rig_add(r, n_disks > 1 ? group : "disk", name);
		}
	}
	rig_metric(r, "disk", "await");
}

static void slow(struct rig *r, uint32_t server, char disk, uint32_t first)
{
	char name[64];

	snprintf(name, sizeof(name), "oss%u/disk:sd%c", server, disk);
	rig_find(r, name, "await", LP_MARK_ABOVE, 80, 10, first, 79);
}

static bool has_note(const struct rig *r, const char *words)
{
	for (uint32_t i = 0; i < r->v->n_notes; i++) {
		if (strstr(r->v->notes[i], words))
			return true;
	}
	return false;
}

/* On four of six from the beginning: their nature. The fifth disk is at fault. */
static void test_by_nature(void **state)
{
	struct rig r;

	(void)state;
	rig_servers(&r, 6, 4);
	for (uint32_t s = 1; s <= 4; s++)
		slow(&r, s, 'b', 0);
	slow(&r, 5, 'd', 0);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 1);
	assert_string_equal(r.v->components[r.v->suspects[0].component]->text, "oss5/disk:sdd");
	assert_int_equal(r.v->n_asymmetries, 0);
	assert_true(has_note(&r, "disk:sdb took longer"));
	rig_release(&r);
}

/* On half of the servers, on two of three, or since a while. */
static void test_faults(void **state)
{
	static const struct {
		uint32_t n_servers, n_slow, first;
	} cases[] = {{6, 3, 0}, {3, 2, 0}, {6, 4, 30}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		rig_servers(&r, cases[i].n_servers, 4);
		for (uint32_t s = 1; s <= cases[i].n_slow; s++)
			slow(&r, s, 'b', cases[i].first);
		rig_explain(&r);
		assert_int_equal(r.v->n_suspects, cases[i].n_slow);
		assert_false(has_note(&r, "took longer"));
		rig_release(&r);
	}
}

/* A LUN that all servers see is one device, and slow for all of them. */
static void test_lun(void **state)
{
	static const char *const names[] = {"6.00", "dm-3", "lun17", "sdb1x", "sd", "nvme"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct rig r;

		rig_init(&r, 80);
		for (uint32_t s = 1; s <= 4; s++) {
			char group[64], name[64];

			snprintf(group, sizeof(group), "disk observer=oss%u", s);
			for (uint32_t d = 0; d < 3; d++) {
				snprintf(name, sizeof(name), "oss%u/disk:other%u", s, d);
				rig_add(&r, group, name);
			}
			snprintf(name, sizeof(name), "oss%u/disk:%s", s, names[i]);
			rig_add(&r, group, name);
		}
		rig_metric(&r, "disk", "await");
		for (uint32_t s = 1; s <= 4; s++) {
			char name[64];

			snprintf(name, sizeof(name), "oss%u/disk:%s", s, names[i]);
			rig_find(&r, name, "await", LP_MARK_ABOVE, 80, 10, 0, 79);
		}
		rig_explain(&r);
		assert_int_equal(r.v->n_suspects, 4);
		rig_release(&r);
	}
}

/* Where every server has one disk, the peers are the namesakes. */
static void test_one_each(void **state)
{
	struct rig r;

	(void)state;
	rig_servers(&r, 5, 1);
	for (uint32_t s = 1; s <= 3; s++)
		slow(&r, s, 'b', 0);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 3);
	rig_release(&r);
}

/* A topology says which components are peers. */
static void test_topology(void **state)
{
	struct rig r;

	(void)state;
	rig_servers(&r, 6, 4);
	rig_topology(&r, "version: 1\n");
	for (uint32_t s = 1; s <= 4; s++)
		slow(&r, s, 'b', 0);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 4);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_nature),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_lun),
		cmocka_unit_test(test_one_each),
		cmocka_unit_test(test_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
