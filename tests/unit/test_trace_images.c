#include "trace/symbols/images.h"

#include "own_image.h"

static void test_same(void **state)
{
	struct images s = {0};
	struct image *first, *again, *copy;
	size_t size;
	unsigned char *bytes = own_bytes(&size);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), other = file_of(bytes, size);

	(void)state;
	assert_int_equal(images_open(&s, fd, "/usr/bin/program", &first), 0);
	assert_string_equal(first->name, "program");
	assert_int_equal(images_open(&s, fd, "/another/name", &again), 0);
	assert_ptr_equal(first, again);
	assert_int_equal(images_open(&s, other, "/container/program", &copy), 0);
	if (elf_image_supported()) {
		assert_ptr_equal(first, copy); /* of the same build-id */
		assert_ptr_equal(images_find(&s, &first->elf.id), first);
		assert_int_equal(s.n, 1);
	}
	close(fd);
	close(other);
	free(bytes);
	images_release(&s);
}

/* What is not understood is an image, too, of which only the name is known. */
static void test_other(void **state)
{
	const struct build_id none = {.known = false};
	struct images s = {0};
	struct image *i;
	int fd = file_of("text", 4);

	(void)state;
	assert_int_equal(images_open(&s, fd, "/etc/motd", &i), 0);
	assert_string_equal(i->name, "motd");
	assert_int_equal(i->elf.symbols.n, 0);
	assert_null(images_find(&s, &none));
	close(fd);
	images_release(&s);
}

/* Unused images are removed, and the remaining ones are still found. */
static void test_forget(void **state)
{
	struct images s = {0};
	struct image *i, *used;
	int a = file_of("a", 1), b = file_of("b", 1);

	(void)state;
	assert_int_equal(images_open(&s, a, "/a", &i), 0);
	assert_int_equal(images_open(&s, b, "/b", &used), 0);
	for (int n = 0; n < IMAGES_PERIODS + 2; n++) {
		images_tick(&s);
		assert_int_equal(images_open(&s, b, "/b", &i), 0);
		assert_ptr_equal(i, used);
	}
	assert_int_equal(s.n, 1);
	assert_int_equal(images_open(&s, a, "/a", &i), 0);
	assert_int_equal(s.n, 2);
	close(a);
	close(b);
	images_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
