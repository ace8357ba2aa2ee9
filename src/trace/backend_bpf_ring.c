/* Reads the ring that the kernel writes.
 *
 * libbpf's reader continues until it has caught up and updates its position after every record, so
 * it competes with the writer for the same cache lines. This one reads the available records,
 * updates its position occasionally, and does not disturb the writer.
 */
#include "trace/backend_bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER 8
#define SAY_EVERY (256u << 10) /* bytes */

int bpf_ring_map(struct bpf_ring *r, int fd, uint64_t size, struct lp_err *err)
{
	void *p;

	r->epoll_fd = -1;
	r->page = (uint64_t)sysconf(_SC_PAGESIZE);
	r->size = size;
	r->fd = fd;
	p = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return lp_err_sys(err, -errno, "cannot map the ring of events");
	r->consumer = p;
	p = mmap(NULL, r->page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)r->page);
	if (p == MAP_FAILED)
		return lp_err_sys(err, -errno, "cannot map the ring of events");
	r->producer = p;
	r->data = r->producer + r->page;
	return 0;
}

int bpf_ring_open(struct bpf_ring *r, int fd, uint64_t size, struct lp_err *err)
{
	struct epoll_event want = {.events = EPOLLIN};
	int rc = bpf_ring_map(r, fd, size, err);

	if (rc < 0)
		return rc;
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0 || epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &want) < 0)
		return lp_err_sys(err, -errno, "cannot wait for events");
	return 0;
}

void bpf_ring_close(struct bpf_ring *r)
{
	if (r->consumer)
		munmap(r->consumer, r->page);
	if (r->producer)
		munmap(r->producer, r->page + 2 * r->size);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	r->consumer = r->producer = NULL;
	r->epoll_fd = -1;
}

bool bpf_record_decode(const void *record, size_t size, struct trace_event *ret)
{
	struct bpf_record head;
	const unsigned char *p = record;
	size_t args;

	if (size < sizeof(head))
		return false;
	memcpy(&head, p, sizeof(head));
	args = head.n_args * sizeof(uint64_t);
	if (head.n_args > TRACE_ARGS || size < sizeof(head) + args + head.text_len)
		return false;
	*ret = (struct trace_event){
		.seq = head.seq,
		.start_ns = (int64_t)head.start_ns,
		.dur_ns = (int64_t)head.dur_ns,
		.pid = (int32_t)head.pid,
		.tid = (int32_t)head.tid,
		.nr = head.nr,
		.what = head.what,
		.flags = head.flags,
		.file = head.file,
		.ret = head.ret,
		.text = (const char *)p + sizeof(head) + args,
		.text_len = head.text_len,
	};
	memcpy(ret->args, p + sizeof(head), args);
	return true;
}

size_t bpf_path_join(const char *parts, size_t len, char *ret, size_t size)
{
	size_t at = 0;

	if (len > size || (len && parts[len - 1]))
		return 0;
	while (len) {
		size_t end = len - 1, begin = end; /* of the part without its NUL */

		while (begin && parts[begin - 1])
			begin--;
		ret[at++] = '/';
		memcpy(ret + at, parts + begin, end - begin);
		at += end - begin;
		len = begin;
	}
	return at;
}

/* Deliver the record at `at` if it is complete. Returns its length with the header, 0 if it is
 * incomplete, or the result of the sink. */
static int64_t ring_take(struct bpf_ring *r, uint64_t at, const struct trace_sink *sink)
{
	const unsigned char *p = r->data + (at & (r->size - 1));
	uint32_t head = __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
	uint32_t len = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	struct trace_event e;
	int rc = 0;

	if (head & BPF_RINGBUF_BUSY_BIT)
		return 0;
	if (!(head & BPF_RINGBUF_DISCARD_BIT) && bpf_record_decode(p + HEADER, len, &e)) {
		if (e.flags & TRACE_FD_PATH) {
			e.text_len = (uint32_t)bpf_path_join(
				e.text, e.text_len, r->path, sizeof(r->path));
			e.text = r->path;
		}
		rc = sink->event(sink->ctx, &e);
	}
	return rc < 0 ? rc : (int64_t)((len + HEADER + 7) & ~7u);
}

int bpf_ring_drain(struct bpf_ring *r, const struct trace_sink *sink, uint64_t *ret_n)
{
	uint64_t at = __atomic_load_n((uint64_t *)(void *)r->consumer, __ATOMIC_RELAXED);
	uint64_t end = __atomic_load_n((uint64_t *)(void *)r->producer, __ATOMIC_ACQUIRE);
	uint64_t said = at, n = 0;
	int64_t step = 0;

	while (at < end) {
		step = ring_take(r, at, sink);
		if (step <= 0)
			break;
		at += (uint64_t)step;
		n++;
		if (at - said >= SAY_EVERY) {
			__atomic_store_n((uint64_t *)(void *)r->consumer, at, __ATOMIC_RELEASE);
			said = at;
		}
	}
	__atomic_store_n((uint64_t *)(void *)r->consumer, at, __ATOMIC_RELEASE);
	*ret_n = n;
	return step < 0 ? (int)step : 0;
}

int bpf_ring_wait(struct bpf_ring *r, int timeout_ms)
{
	struct epoll_event got;
	int n = epoll_wait(r->epoll_fd, &got, 1, timeout_ms);

	return n < 0 ? -errno : n;
}
