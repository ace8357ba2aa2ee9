#include "trace/ptrace_capture.h"

#include "base/array.h"
#include "trace/ptrace_files.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define PAGE 4096u
#define CONTROL_MAX 4096 /* bytes of control messages: a kernel passes 253 descriptors at once */
#define MESSAGES_MAX 64	 /* per recvmmsg */

size_t capture_bytes(pid_t tid, uint64_t address, void *ret, size_t size)
{
	size_t done = 0;

	/* Page by page: an unmapped page would make the whole copy fail. */
	while (done < size) {
		uint64_t at = address + done;
		size_t want = PAGE - at % PAGE;
		struct iovec to = {(char *)ret + done, want < size - done ? want : size - done};
		struct iovec from = {(void *)(uintptr_t)at, to.iov_len}; /* NOLINT: their pointer */
		ssize_t n = process_vm_readv(tid, &to, 1, &from, 1, 0);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

size_t capture_string(pid_t tid, uint64_t address, char *ret, size_t size, bool *cut)
{
	size_t done = 0;

	while (done < size) {
		uint64_t at = address + done;
		size_t want = 256 - at % 256;
		size_t n;
		char *end;

		if (want > size - done)
			want = size - done;
		n = capture_bytes(tid, at, ret + done, want);
		end = memchr(ret + done, 0, n);
		if (end)
			return (size_t)(end - ret);
		done += n;
		if (n < want)
			return done;
	}
	*cut = true;
	return done;
}

static void take_paths(struct trace_event *e, int first, int second, char buf[TRACE_TEXT_MAX])
{
	size_t room = second < 0 ? TRACE_TEXT_MAX : TRACE_TEXT_MAX / 2;
	bool cut = false;
	size_t n = capture_string(e->tid, e->args[first], buf, room, &cut);

	if (second >= 0) {
		if (n == room)
			n--;
		buf[n++] = 0;
		n += capture_string(e->tid, e->args[second], buf + n, TRACE_TEXT_MAX - n, &cut);
	}
	e->text_len = (uint32_t)n;
	if (cut)
		e->flags |= TRACE_CUT;
}

static void take_endpoints(struct trace_event *e, char buf[TRACE_TEXT_MAX])
{
	int nr = trace_event_native(e);
	bool accepted = nr == SYS_accept || nr == SYS_accept4;
	struct sockaddr_storage remote = {0};
	struct trace_endpoints ends;
	size_t size = e->args[2];

	if (accepted && (e->what != TRACE_CALL || e->ret < 0))
		return;
	if (nr == SYS_connect && size <= sizeof(remote))
		capture_bytes(e->tid, e->args[1], &remote, size);
	file_endpoints(e->pid, e->tid, (int)(accepted ? e->ret : (int64_t)e->args[0]),
		nr == SYS_connect ? &remote : NULL, &ends);
	memcpy(buf, &ends, sizeof(ends));
	e->text_len = sizeof(ends);
}

static void take_fds(struct trace_event *e, char buf[TRACE_TEXT_MAX])
{
	uint64_t address = e->args[trace_event_native(e) == SYS_socketpair ? 3 : 0];

	if (e->ret >= 0 && capture_bytes(e->tid, address, buf, 2 * sizeof(int32_t)) == 8)
		e->text_len = 2 * sizeof(int32_t);
}

/* Append the descriptors that came with one message. */
static void take_control(
	struct trace_event *e, const struct msghdr *theirs, char buf[TRACE_TEXT_MAX])
{
	union {
		char bytes[CONTROL_MAX];
		struct cmsghdr aligned;
	} control;
	size_t size = theirs->msg_controllen;
	struct msghdr m = {.msg_control = control.bytes};

	if (!theirs->msg_control || !size)
		return;
	if (size > sizeof(control))
		size = sizeof(control);
	m.msg_controllen = capture_bytes(
		e->tid, (uint64_t)(uintptr_t)theirs->msg_control, control.bytes, size);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		size_t left = (size_t)(control.bytes + m.msg_controllen - (char *)c);
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > left)
			break;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		bytes -= bytes % sizeof(int32_t);
		if (bytes > TRACE_TEXT_MAX - e->text_len) {
			bytes = TRACE_TEXT_MAX - e->text_len;
			e->flags |= TRACE_CUT;
		}
		memcpy(buf + e->text_len, CMSG_DATA(c), bytes);
		e->text_len += (uint32_t)bytes;
	}
}

static void take_rights(struct trace_event *e, char buf[TRACE_TEXT_MAX])
{
	struct mmsghdr many[MESSAGES_MAX];
	size_t n, size;

	/* The messages of 32-bit programs have another layout in memory. */
	if (e->ret < 0 || e->flags & TRACE_COMPAT)
		return;
	if (e->nr == SYS_recvmmsg) {
		n = e->ret < MESSAGES_MAX ? (size_t)e->ret : MESSAGES_MAX;
		size = capture_bytes(e->tid, e->args[1], many, n * sizeof(many[0]));
		n = size / sizeof(many[0]);
	} else {
		size = capture_bytes(e->tid, e->args[1], &many[0].msg_hdr, sizeof(struct msghdr));
		n = size == sizeof(struct msghdr);
	}
	for (size_t i = 0; i < n; i++)
		take_control(e, &many[i].msg_hdr, buf);
}

void capture_text(struct trace_event *e, unsigned capture, char buf[TRACE_TEXT_MAX])
{
	static const struct {
		int8_t first, second;
	} paths[] = {[CAPTURE_PATH0] = {0, -1},
		[CAPTURE_PATH1] = {1, -1},
		[CAPTURE_PATHS_01] = {0, 1},
		[CAPTURE_PATHS_13] = {1, 3},
		[CAPTURE_PATHS_02] = {0, 2}};

	e->text = buf;
	e->text_len = 0;
	if (capture > CAPTURE_NONE && capture < ARRAY_SIZE(paths))
		take_paths(e, paths[capture].first, paths[capture].second, buf);
	else if (capture == CAPTURE_ENDPOINTS)
		take_endpoints(e, buf);
	else if (e->what == TRACE_CALL && capture == CAPTURE_FDS)
		take_fds(e, buf);
	else if (e->what == TRACE_CALL && capture == CAPTURE_RIGHTS)
		take_rights(e, buf);
}

uint64_t capture_clone_flags(pid_t tid, unsigned nr, const uint64_t args[TRACE_ARGS])
{
	uint64_t flags = 0;

#ifdef SYS_vfork
	if (nr == SYS_vfork)
		return CLONE_VFORK | CLONE_VM;
#endif
	if (nr == SYS_clone)
		return args[0] & ~(uint64_t)CSIGNAL;
	if (nr == SYS_clone3)
		capture_bytes(tid, args[0], &flags, sizeof(flags));
	return flags;
}
