/* A table of descriptors, a process that does not exist, and the reported changes. */
#ifndef DESCRIPTORS_RIG_H
#define DESCRIPTORS_RIG_H

#include "base/strbuf.h"
#include "proc_rig.h"
#include "trace/descriptors.h"
#include <arpa/inet.h>
#include <asm/unistd.h>
#include <errno.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define PID 812

struct rig {
	struct descriptors *d;
	struct strbuf told; /* "open 3 storage /data/x\n" ... since the last check */
	int64_t now;
	uint64_t seq;
	int stop; /* the result of the callback */
};

static inline int told(void *ctx, const struct trace_descriptor *t)
{
	struct rig *r = ctx;

	if (t->pid != PID)
		strbuf_printf(&r->told, "%d: ", t->pid);
	strbuf_printf(&r->told, "%s %d", trace_change_name(t->change), t->fd);
	if (t->from >= 0)
		strbuf_printf(&r->told, " from %d", t->from);
	if (t->file != TRACE_FILE_NONE)
		strbuf_printf(&r->told, " %s %s", trace_file_name(t->file), t->name);
	strbuf_puts(&r->told, "\n");
	return r->stop;
}

static inline struct rig *rig_of(void **state)
{
	return *state;
}

/* A server in /data with an empty table. */
static inline int setup(void **state)
{
	static struct rig rig;

	temp_dir_setup(state);
	proc_process(PID, "server", "/data");
	rig = (struct rig){.now = 1000};
	rig.d = descriptors_new(temp_dir_path, told, &rig);
	*state = &rig;
	return rig.d && descriptors_read(rig.d, PID, 1, NULL) == 0 ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct rig *r = *state;

	descriptors_free(r->d);
	strbuf_release(&r->told);
	return temp_dir_teardown(state);
}

static inline void expect(struct rig *r, const char *text)
{
	assert_string_equal(r->told.text ? r->told.text : "", text);
	strbuf_reset(&r->told);
	if (r->told.text)
		r->told.text[0] = '\0';
}

static inline struct trace_event event(struct rig *r, unsigned what, unsigned nr, int64_t ret)
{
	r->now += 100;
	return (struct trace_event){.seq = ++r->seq,
		.start_ns = r->now,
		.dur_ns = 10,
		.pid = PID,
		.tid = PID,
		.nr = (uint16_t)nr,
		.what = (uint8_t)what,
		.ret = ret};
}

static inline void apply(struct rig *r, const struct trace_event *e)
{
	assert_int_equal(descriptors_apply(r->d, e, NULL), 0);
}

/* A call with up to four arguments. */
static inline void call(
	struct rig *r, unsigned nr, int64_t ret, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_event e = event(r, TRACE_CALL, nr, ret);

	e.args[0] = a0;
	e.args[1] = a1;
	e.args[2] = a2;
	e.args[3] = a3;
	apply(r, &e);
}

static inline void call_text(struct rig *r, unsigned nr, int64_t ret, const uint64_t args[4],
	const void *text, size_t len)
{
	struct trace_event e = event(r, TRACE_CALL, nr, ret);

	memcpy(e.args, args, 4 * sizeof(args[0]));
	e.text = text;
	e.text_len = (uint32_t)len;
	apply(r, &e);
}

static inline void open_at(struct rig *r, int dirfd, const char *path, unsigned flags, int ret)
{
	call_text(r, __NR_openat, ret, (uint64_t[4]){(uint64_t)dirfd, 1, flags, 0644}, path,
		strlen(path));
}

static inline void close_fd(struct rig *r, int fd)
{
	call(r, __NR_close, 0, (uint64_t)fd, 0, 0, 0);
}

static inline struct descriptor get(struct rig *r, int pid, int fd)
{
	struct descriptor x = {0};

	assert_true(descriptors_get(r->d, pid, fd, &x));
	return x;
}

static inline bool is_open(struct rig *r, int pid, int fd)
{
	struct descriptor x;

	return descriptors_get(r->d, pid, fd, &x);
}

static inline struct trace_endpoints ends(
	const char *local, unsigned lport, const char *remote, unsigned rport)
{
	struct trace_endpoints e = {.family = AF_INET,
		.local_port = htons((uint16_t)lport),
		.remote_port = htons((uint16_t)rport)};

	inet_pton(AF_INET, local, e.local);
	inet_pton(AF_INET, remote, e.remote);
	return e;
}

static inline void fork_event(struct rig *r, int child, uint64_t flags)
{
	struct trace_event e = event(r, TRACE_FORK, 0, child);

	e.args[0] = flags;
	apply(r, &e);
}

static inline void exit_event(struct rig *r, int pid)
{
	struct trace_event e = event(r, TRACE_EXIT, 0, 0);

	e.pid = e.tid = pid;
	apply(r, &e);
}

static inline void put_tcp(int pid)
{
	proc_put(pid, "net/tcp",
		PROC_TCP_HEADING "   0: 00000000:5DC7 00000000:0000 0A 0:0 0:0 0 0 0 101 1 0\n"
				 "   1: 0100000A:5DC7 0900000A:BFFF 01 0:0 0:0 0 0 0 102 1 0\n"
				 "   2: 0100000A:C000 0200000A:5DC7 01 0:0 0:0 0 0 0 103 1 0\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
