/* The calls that have not returned. */
#include "trace/backend_bpf.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#define BATCH 64

struct pending_record {
	struct bpf_record record;
	uint64_t args[TRACE_ARGS];
};

/* The path of a call, from the memory of the thread. */
static uint32_t read_path(const struct trace_event *e, char *ret, size_t size)
{
	const struct syscall_info *s = e->flags & TRACE_COMPAT ? NULL : syscall_get(e->nr);
	uint64_t address;
	size_t got = 0;

	if (!s || (s->capture != CAPTURE_PATH0 && s->capture != CAPTURE_PATH1))
		return 0;
	address = e->args[s->capture == CAPTURE_PATH1];
	while (got < size) {
		/* Page by page: the string may end just before the end of mapped memory. */
		size_t n = 4096 - (address + got) % 4096;
		struct iovec to = {ret + got, n < size - got ? n : size - got};
		struct iovec from = {(void *)(uintptr_t)(address + got), to.iov_len};

		if (process_vm_readv(e->tid, &to, 1, &from, 1, 0) != (ssize_t)to.iov_len)
			return 0;
		if (memchr(ret + got, 0, to.iov_len))
			return (uint32_t)strlen(ret);
		got += to.iov_len;
	}
	return (uint32_t)size;
}

static int deliver(const struct bpf_tracer *t, const struct pending_record *p, int64_t now_ns,
	int64_t at_least_ns)
{
	char path[TRACE_TEXT_MAX];
	struct trace_event e;

	if (now_ns - (int64_t)p->record.start_ns < at_least_ns ||
		!bpf_record_decode(p, sizeof(*p), &e))
		return 0;
	e.dur_ns = now_ns - e.start_ns;
	e.text = path;
	e.text_len = read_path(&e, path, sizeof(path));
	return t->sink.event(t->sink.ctx, &e);
}

int bpf_pending_list(struct bpf_tracer *t, int64_t at_least_ns, struct lp_err *err)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(t->pending));
	struct pending_record records[BATCH];
	int64_t now_ns;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot list the calls in progress");
	now_ns = clock_ns(CLOCK_MONOTONIC);
	while ((n = read(fd, (char *)records + have, sizeof(records) - have)) > 0 ||
		(n < 0 && errno == EAGAIN)) {
		size_t done = 0;

		have += n > 0 ? (size_t)n : 0;
		for (; have - done >= sizeof(records[0]); done += sizeof(records[0])) {
			int r = deliver(
				t, &records[done / sizeof(records[0])], now_ns, at_least_ns);

			if (r < 0)
				return r;
		}
		have -= done;
		memmove(records, (char *)records + done, have);
	}
	return n < 0 ? lp_err_sys(err, -errno, "cannot read the calls in progress") : 0;
}
