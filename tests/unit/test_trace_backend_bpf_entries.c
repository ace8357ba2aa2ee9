/* Real maps of the kernel, read and emptied many entries at a time and one by one. */
#include "trace/backend_bpf_entries.h"
#include "unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 5000 /* more than are read with one call */

static int make_map(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "limpet_test", sizeof(uint64_t),
		sizeof(uint32_t), 2 * ENTRIES, NULL);

	if (fd < 0)
		skip(); /* not root, or no BPF in this kernel */
	for (uint64_t key = 0; key < ENTRIES; key++) {
		uint32_t value = (uint32_t)key * 3;

		assert_int_equal(bpf_map_update_elem(fd, &key, &value, BPF_ANY), 0);
	}
	return fd;
}

/* Each key once, with its value; how many. */
static size_t read_all(struct bpf_entries *e)
{
	static bool seen[ENTRIES];

	memset(seen, 0, sizeof(seen));
	assert_int_equal(bpf_entries_read(e), 0);
	for (size_t i = 0; i < e->n; i++) {
		uint64_t key;
		uint32_t value;

		memcpy(&key, bpf_entries_key(e, i), sizeof(key));
		memcpy(&value, bpf_entries_value(e, i), sizeof(value));
		assert_true(key < ENTRIES && !seen[key]);
		assert_int_equal(value, key * 3);
		seen[key] = true;
	}
	return e->n;
}

static void check_map(bool singly)
{
	int fd = make_map();
	struct bpf_entries e;
	uint64_t keys[ENTRIES / 2 + 2];

	assert_int_equal(bpf_entries_open(&e, fd), 0);
	assert_int_equal(e.max, 2 * ENTRIES);
	e.singly = singly;
	assert_int_equal(read_all(&e), ENTRIES);
	/* The even ones go, and some that were never there. */
	keys[0] = ENTRIES + 1;
	for (uint64_t i = 0; i < ENTRIES / 2; i++)
		keys[i + 1] = 2 * i;
	keys[ENTRIES / 4] = ENTRIES + 7;
	keys[ENTRIES / 2 + 1] = ENTRIES + 9;
	bpf_entries_remove(&e, keys, ENTRIES / 2 + 2);
	assert_int_equal(read_all(&e), ENTRIES / 2 + 1);
	bpf_entries_remove(&e, e.keys, e.n);
	assert_int_equal(read_all(&e), 0);
	bpf_entries_remove(&e, keys, 0);
	bpf_entries_release(&e);
	close(fd);
}

static void test_many(void **state)
{
	(void)state;
	check_map(false);
}

static void test_singly(void **state)
{
	(void)state;
	check_map(true);
}

static void test_no_map(void **state)
{
	struct bpf_entries e;

	(void)state;
	assert_true(bpf_entries_open(&e, -1) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_singly),
		cmocka_unit_test(test_no_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
