/* Asynchronous I/O, as it lies in our own memory. */
#include "emulator.h"
#include "trace/ptrace_aio.h"
#include "unit.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

struct told {
	struct trace_event events[400];
	int n, end_after;
};

static int tell(void *ctx, struct trace_event *e)
{
	struct told *t = ctx;

	t->events[t->n++] = *e;
	return t->end_after && t->n >= t->end_after ? -5 : 0;
}

static unsigned kind(void *ctx, int fd)
{
	(void)ctx;
	return fd == 9 ? TRACE_FILE_STORAGE : TRACE_FILE_NONE;
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static struct trace_event submit(struct iocb **list, int64_t n, uint64_t context)
{
	return (struct trace_event){.nr = SYS_io_submit,
		.ret = n,
		.seq = 77,
		.start_ns = 1000,
		.pid = getpid(),
		.tid = gettid(),
		.args = {context, (uint64_t)n, at(list)}};
}

static struct trace_event getevents(struct io_event *events, int64_t n, uint64_t context)
{
	return (struct trace_event){.nr = SYS_io_getevents,
		.ret = n,
		.start_ns = 5000,
		.dur_ns = 200,
		.pid = getpid(),
		.tid = gettid(),
		.args = {context, 1, (uint64_t)n, at(events)}};
}

static void test_one_of_each(void **state)
{
	static const struct {
		unsigned opcode;
		int nr;
	} cases[] = {{IOCB_CMD_PREAD, SYS_pread64}, {IOCB_CMD_PWRITE, SYS_pwrite64},
		{IOCB_CMD_FSYNC, SYS_fsync}, {IOCB_CMD_FDSYNC, SYS_fdatasync},
		{IOCB_CMD_PREADV, SYS_preadv}, {IOCB_CMD_PWRITEV, SYS_pwritev},
		{IOCB_CMD_POLL, -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iocb cb = {.aio_lio_opcode = (uint16_t)cases[i].opcode,
			.aio_fildes = 9,
			.aio_buf = 100,
			.aio_nbytes = 200,
			.aio_offset = 300};
		struct iocb *list[] = {&cb};
		struct io_event done = {.obj = at(&cb), .res = -28};
		struct trace_event s = submit(list, 1, 5), g = getevents(&done, 1, 5);
		struct told told = {0};
		struct aio aio = {0};
		const struct trace_event *e = told.events;

		assert_int_equal(aio_submitted(&aio, &s, kind, NULL), 0);
		assert_int_equal(aio_completed(&aio, &g, tell, &told), 0);
		assert_int_equal(told.n, cases[i].nr >= 0);
		if (told.n) {
			assert_int_equal(e->what, TRACE_ASYNC);
			assert_int_equal(e->nr, cases[i].nr);
			assert_int_equal(e->ret, -28);
			assert_int_equal(e->seq, 77);
			assert_int_equal(e->start_ns, 1000);
			assert_int_equal(e->dur_ns, 4200);
			assert_int_equal(e->file, TRACE_FILE_STORAGE);
			assert_int_equal(e->args[0], 9);
			assert_int_equal(e->args[3], 300);
		}
		aio_release(&aio);
	}
}

static void test_many_in_another_order(void **state)
{
	static struct iocb cbs[300];
	static struct iocb *list[300];
	static struct io_event done[300];
	static struct told told;
	struct aio aio = {0};
	struct trace_event s = submit(list, 300, 5), g = getevents(done, 300, 5),
			   strange = getevents(done, 300, 6);

	(void)state;
	for (int i = 0; i < 300; i++) {
		cbs[i] = (struct iocb){.aio_lio_opcode = IOCB_CMD_PREAD, .aio_offset = i};
		list[i] = &cbs[i];
		done[299 - i] = (struct io_event){.obj = at(&cbs[i]), .res = i};
	}
	assert_int_equal(aio_submitted(&aio, &s, kind, NULL), 0);
	assert_int_equal(aio.n, 300);
	assert_int_equal(aio_completed(&aio, &strange, tell, &told), 0); /* another context */
	assert_int_equal(told.n, 0);
	assert_int_equal(aio_completed(&aio, &g, tell, &told), 0);
	assert_int_equal(told.n, 300);
	for (int i = 0; i < 300; i++)
		assert_int_equal(told.events[i].ret, told.events[i].args[3]);
	assert_int_equal(aio.n, 0);
	aio_release(&aio);
}

/* The same address again: the end of the first one was not seen. */
static void test_unseen_ends_are_counted(void **state)
{
	struct iocb cb = {.aio_lio_opcode = IOCB_CMD_PREAD};
	struct iocb *list[] = {&cb, &cb};
	struct trace_event s = submit(list, 2, 5);
	struct aio aio = {0};

	(void)state;
	assert_int_equal(aio_submitted(&aio, &s, kind, NULL), 1);
	assert_int_equal(aio_submitted(&aio, &s, kind, NULL), 2);
	assert_int_equal(aio.n, 1);
	aio_release(&aio);
}

static void test_bad_memory_and_refusal(void **state)
{
	struct iocb cb = {.aio_lio_opcode = IOCB_CMD_PREAD}, cc = cb;
	struct iocb *list[] = {&cb, (void *)8, &cc};
	struct io_event done[] = {{.obj = at(&cb)}, {.obj = 8}, {.obj = at(&cc)}};
	struct trace_event s = submit(list, 3, 5), g = getevents(done, 3, 5),
			   nowhere = submit((void *)8, 3, 5);
	struct told told = {.end_after = 1};
	struct aio aio = {0};

	(void)state;
	assert_int_equal(aio_submitted(&aio, &nowhere, kind, NULL), 0);
	assert_int_equal(aio_submitted(&aio, &s, kind, NULL), 0);
	assert_int_equal(aio.n, 2);
	assert_int_equal(aio_completed(&aio, &g, tell, &told), -5);
	assert_int_equal(told.n, 1);
	aio_release(&aio);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_of_each),
		cmocka_unit_test(test_many_in_another_order),
		cmocka_unit_test(test_unseen_ends_are_counted),
		cmocka_unit_test(test_bad_memory_and_refusal),
	};

	if (skips_all_if_emulated("process_vm_readv"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
