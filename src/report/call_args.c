#include "report/call_args.h"

#include "base/array.h"
#include "model/endpoints.h"
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

void call_args_escape(struct strbuf *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\n')
			strbuf_puts(out, "\\n");
		else if (c == '\t')
			strbuf_puts(out, "\\t");
		else if (c == '"' || c == '\\')
			strbuf_printf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			strbuf_printf(out, "\\x%02x", c);
		else
			strbuf_putc(out, (char)c);
	}
}

void call_args_fd(struct strbuf *out, const struct fd_names *names, int32_t pid, int fd)
{
	const char *name = names ? fd_names_get(names, pid, fd) : NULL;

	strbuf_printf(out, "%d", fd);
	if (!name)
		return;
	strbuf_putc(out, '<');
	call_args_escape(out, name, strlen(name));
	strbuf_putc(out, '>');
}

/* O_SYNC includes the bit of O_DSYNC, and O_TMPFILE that of O_DIRECTORY, so these come first. */
static const struct {
	uint64_t bits;
	const char *name;
} open_flags[] = {{O_SYNC, "O_SYNC"}, {O_DSYNC, "O_DSYNC"}, {O_TMPFILE, "O_TMPFILE"},
	{O_DIRECTORY, "O_DIRECTORY"}, {O_CREAT, "O_CREAT"}, {O_EXCL, "O_EXCL"},
	{O_NOCTTY, "O_NOCTTY"}, {O_TRUNC, "O_TRUNC"}, {O_APPEND, "O_APPEND"},
	{O_NONBLOCK, "O_NONBLOCK"}, {O_DIRECT, "O_DIRECT"}, {O_NOFOLLOW, "O_NOFOLLOW"},
	{O_NOATIME, "O_NOATIME"}, {O_CLOEXEC, "O_CLOEXEC"}, {O_PATH, "O_PATH"}};

/* `opens`: the two lowest bits are the access mode. */
static void add_open_flags(struct strbuf *out, uint64_t flags, bool opens)
{
	static const char *const access[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
	const char *between = "";

	if (opens) {
		strbuf_puts(out, access[flags & O_ACCMODE]);
		flags &= ~(uint64_t)O_ACCMODE;
		between = "|";
	}
	for (size_t i = 0; i < ARRAY_SIZE(open_flags); i++) {
		if ((flags & open_flags[i].bits) != open_flags[i].bits)
			continue;
		strbuf_printf(out, "%s%s", between, open_flags[i].name);
		flags &= ~open_flags[i].bits;
		between = "|";
	}
	if (flags || !*between)
		strbuf_printf(out, "%s%#" PRIx64, between, flags);
}

unsigned call_args_count(const struct trace_event *e, const struct syscall_info *s)
{
	unsigned n = 0;

	while (n < TRACE_ARGS && s->args[n] != ARG_NONE) {
		/* The mode after the flags. */
		if (n > 0 && s->args[n] == ARG_OCTAL && s->args[n - 1] == ARG_OPEN_FLAGS &&
			!(e->args[n - 1] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))))
			break;
		n++;
	}
	return n;
}

/* The index of argument `i` among the captured paths. */
static unsigned path_number(const struct syscall_info *s, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < i; k++)
		n += s->args[k] == ARG_PATH;
	return n;
}

const char *call_args_path(
	const struct trace_event *e, const struct syscall_info *s, unsigned which, size_t *ret_len)
{
	const char *end, *zero;

	if (!e->text || s->capture < CAPTURE_PATH0 || s->capture > CAPTURE_PATHS_02)
		return NULL;
	end = e->text + e->text_len;
	zero = s->capture >= CAPTURE_PATHS_01 ? memchr(e->text, '\0', e->text_len) : NULL;
	if (which > 0 && !zero)
		return NULL;
	*ret_len = (size_t)(which > 0 ? end - zero - 1 : (zero ? zero : end) - e->text);
	return which > 0 ? zero + 1 : e->text;
}

static void add_path(
	struct strbuf *out, const struct trace_event *e, const struct syscall_info *s, unsigned i)
{
	size_t len;
	const char *path = call_args_path(e, s, path_number(s, i), &len);

	if (!path) {
		strbuf_printf(out, "%#" PRIx64, e->args[i]);
		return;
	}
	strbuf_putc(out, '"');
	call_args_escape(out, path, len);
	strbuf_putc(out, '"');
	if (e->flags & TRACE_CUT && path + len == e->text + e->text_len)
		strbuf_puts(out, "...");
}

static void add_address(struct strbuf *out, const struct trace_event *e, uint64_t value)
{
	struct trace_endpoints ends;
	char text[ENDPOINT_TEXT_MAX];

	if (endpoints_of_event(e, &ends) && endpoints_connected(&ends))
		strbuf_puts(out, endpoints_remote(&ends, text));
	else
		strbuf_printf(out, "%#" PRIx64, value);
}

static void add_fds(struct strbuf *out, const struct trace_event *e, uint64_t value)
{
	int32_t fds[2];

	if (e->ret < 0 || !e->text || e->text_len < sizeof(fds)) {
		strbuf_printf(out, "%#" PRIx64, value);
		return;
	}
	memcpy(fds, e->text, sizeof(fds));
	strbuf_printf(out, "[%d, %d]", fds[0], fds[1]);
}

/* -1 passed as 32 bits is also -1. */
static int64_t as_signed(const struct trace_event *e, uint64_t value)
{
	if (e->flags & TRACE_COMPAT)
		return (int32_t)value;
	return value == UINT32_MAX ? -1 : (int64_t)value;
}

void call_args_add(struct strbuf *out, const struct trace_event *e, const struct syscall_info *s,
	unsigned i, const struct fd_names *names)
{
	uint64_t value = e->args[i];
	char name[SYSCALL_NAME_MAX];

	switch (s->args[i]) {
	case ARG_INT:
		strbuf_printf(out, "%" PRId64, as_signed(e, value));
		break;
	case ARG_SIZE:
		strbuf_printf(out, "%" PRIu64, value);
		break;
	case ARG_OCTAL:
		strbuf_printf(out, "0%03o", (unsigned)value);
		break;
	case ARG_DIRFD:
		if ((int)value == AT_FDCWD) {
			strbuf_puts(out, "AT_FDCWD");
			break;
		}
		/* fall through */
	case ARG_FD:
		call_args_fd(out, names, e->pid, (int)value);
		break;
	case ARG_PATH:
		add_path(out, e, s, i);
		break;
	case ARG_SIGNAL:
		strbuf_puts(out, value ? signal_name((int)value, name) : "0");
		break;
	case ARG_OPEN_FLAGS:
		add_open_flags(out, value, s->fd_arg < 0 && s->capture != CAPTURE_FDS);
		break;
	case ARG_ADDRESS:
		add_address(out, e, value);
		break;
	case ARG_FDS:
		add_fds(out, e, value);
		break;
	default:
		strbuf_printf(out, "%#" PRIx64, value);
		break;
	}
}
