#include "trace/symbols/symbols.h"

#include "own_image.h"
#include "temp_dir.h"
#include "trace/symbols/proc_maps.h"
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>

__attribute__((noinline)) static int landmark(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static struct symbols_answer ask(struct symbols *s, const struct symbols_query *q)
{
	struct symbols_answer a;

	assert_int_equal(symbols_find(s, q, &a), 0);
	return a;
}

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)landmark;
}

static void test_own(void **state)
{
	struct symbols *s = symbols_new("/proc", NULL);
	const struct symbols_query q = {.address = here(), .pid = getpid()};
	struct symbols_answer a = ask(s, &q);

	(void)state;
	assert_int_equal(landmark(1), 2);
	assert_true(a.known);
	assert_string_equal(a.image, "test_trace_symbols");
	if (elf_image_supported())
		assert_string_equal(a.function, "landmark");
	else
		assert_non_null(strstr(a.function, "test_trace_symbols+0x"));
	symbols_tick(s);
	assert_string_equal(ask(s, &q).function, a.function);
	symbols_free(s);
}

/* The offset of an address in its file, and the build-id of that. */
static struct symbols_query query_by_id(void)
{
	struct symbols_query q = {.address = here(), .pid = -1};
	const struct proc_mapping *m;
	struct proc_maps maps;
	struct elf_image e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_image_identify(fd, &e), 0);
	q.id = e.id;
	close(fd);
	assert_int_equal(proc_maps_read("/proc", getpid(), &maps), 0);
	m = proc_maps_find(&maps, q.address);
	q.offset = q.address - m->start + m->offset;
	proc_maps_release(&maps);
	return q;
}

/* A process that has ended is known by the build-id of its file, if another one has shown it or its
 * exec event had the path; or it is at least reported by that id. */
static void test_ended(void **state)
{
	struct symbols *s = symbols_new("/proc", NULL);
	struct symbols_query q;
	char path[4096];
	ssize_t n;

	(void)state;
	if (!elf_image_supported())
		skip();
	q = query_by_id();
	assert_false(ask(s, &q).known);
	assert_non_null(strstr(ask(s, &q).function, "+0x"));
	symbols_free(s);

	s = symbols_new("/proc", NULL);
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(symbols_executed(s, -1, 0, path), 0);
	assert_string_equal(ask(s, &q).function, "landmark");
	symbols_free(s);

	s = symbols_new("/proc", NULL);
	q.pid = getpid();
	assert_string_equal(ask(s, &q).function, "landmark");
	q.pid = -1;
	assert_string_equal(ask(s, &q).function, "landmark");
	symbols_free(s);
}

/* A program that was executed by a relative path, or by one that leads elsewhere here, and has
 * ended: its parent shows where that is. */
static void test_by_parent(void **state)
{
	char path[4096], relative[4096], *slash;
	struct symbols_query q;
	struct symbols *s;
	ssize_t n;

	(void)state;
	if (!elf_image_supported())
		skip();
	q = query_by_id();
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	slash = strrchr(path, '/');
	snprintf(relative, sizeof(relative), ".%s", slash);
	*slash = '\0';
	assert_int_equal(chdir(path), 0);
	s = symbols_new("/proc", NULL);
	assert_int_equal(symbols_executed(s, -1, 0, relative), 0);
	assert_false(ask(s, &q).known);
	symbols_free(s);
	s = symbols_new("/proc", NULL);
	assert_int_equal(symbols_executed(s, -1, getpid(), relative), 0);
	assert_string_equal(ask(s, &q).function, "landmark");
	assert_string_equal(ask(s, &q).image, slash + 1);
	symbols_free(s);
}

/* Reported mappings of a process that is gone. */
static void test_told(void **state)
{
	struct symbols *s = symbols_new("/proc", NULL);
	const struct symbols_query q = {.address = 0x10001234, .pid = -1};
	struct stat st;

	(void)state;
	assert_int_equal(stat("/etc/passwd", &st), 0);
	assert_int_equal(
		symbols_mapped(s, -1, 0x10000000, 0x10002000, 0x3000, st.st_ino, "/etc/passwd"), 0);
	assert_string_equal(ask(s, &q).image, "passwd");
	assert_string_equal(ask(s, &q).function, "passwd+0x4000");
	/* It became another program. */
	assert_int_equal(symbols_executed(s, -1, 0, "/bin/none"), 0);
	assert_false(ask(s, &q).known);
	assert_string_equal(ask(s, &q).function, "unknown");
	symbols_free(s);
}

static void test_vdso(void **state)
{
	struct symbols *s = symbols_new("/proc", NULL);
	const struct symbols_query q = {
		.address = getauxval(AT_SYSINFO_EHDR) + 64, .pid = getpid()};

	(void)state;
	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	assert_string_equal(ask(s, &q).image, "vdso");
	assert_true(ask(s, &q).known);
	symbols_free(s);
}

/* Compilers that write code through one mapping, and run it through another, use a file in memory.
 */
static void test_memory_file(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("doublemapper", MFD_CLOEXEC);
	struct symbols *s = symbols_new("/proc", NULL);
	struct symbols_query q = {.pid = getpid()};
	char path[64];
	void *p;
	FILE *f;

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	p = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	q.address = (uint64_t)(uintptr_t)p + 8;
	assert_string_equal(ask(s, &q).function, "memfd:doublemapper+0x0");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%lx 20 compiled\n", (unsigned long)(uintptr_t)p);
	fclose(f);
	symbols_tick(s);
	assert_string_equal(ask(s, &q).image, "jit");
	assert_string_equal(ask(s, &q).function, "compiled");
	unlink(path);
	munmap(p, size);
	close(fd);
	symbols_free(s);
}

/* Code that no file has. */
static void test_anonymous(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct symbols *s = symbols_new("/proc", NULL);
	struct symbols_query q = {.address = (uint64_t)(uintptr_t)p + 8, .pid = getpid()};
	char path[64];
	FILE *f;

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_string_equal(ask(s, &q).function, "anon");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%lx 20 compiled\n", (unsigned long)(uintptr_t)p);
	fclose(f);
	symbols_tick(s);
	assert_string_equal(ask(s, &q).image, "jit");
	assert_string_equal(ask(s, &q).function, "compiled");
	/* A process that stays from one period to the next has its map read again. */
	assert_int_equal(symbols_mapped(s, getpid(), q.address - 8, q.address + 8, 0, 0, ""), 0);
	for (int i = 0; i < 2; i++) {
		symbols_tick(s);
		assert_string_equal(ask(s, &q).function, "compiled");
	}
	unlink(path);
	munmap(p, size);
	symbols_free(s);
}

static void test_kernel(void **state)
{
	char dir[] = "/tmp/limpet-symbols-XXXXXX", path[64];
	struct symbols_query q = {.address = 0xffffffff81000104, .kernel = true};
	struct symbols *s;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("ffffffff81000100 t do_work\nffffffffc0000000 t ext4_write\t[ext4]\n", f);
	fclose(f);
	s = symbols_new(dir, NULL);
	assert_string_equal(ask(s, &q).function, "do_work");
	assert_string_equal(ask(s, &q).image, "kernel");
	q.address = 0xffffffffc0000001;
	assert_string_equal(ask(s, &q).image, "ext4.ko");
	q.address = 0xffffffffd0000001;
	assert_string_equal(ask(s, &q).function, "kernel");
	assert_false(ask(s, &q).known);
	symbols_free(s);
	assert_int_equal(nftw(dir, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_by_parent),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_memory_file),
		cmocka_unit_test(test_anonymous),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
