#include "report/calls.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/json.h"
#include <string.h>

/* ISO 8601 with nanoseconds. */
static json_t *json_time(int64_t wall_ns)
{
	char text[TIME_TEXT_MAX];
	size_t len;

	time_format(floor_div(wall_ns, 1000000000) * US_PER_SEC, text);
	len = strlen(text);
	if (len == 0 || text[len - 1] != 'Z')
		return json_string(text);
	return json_sprintf("%.*s.%09dZ", (int)len - 1, text,
		(int)(wall_ns - floor_div(wall_ns, 1000000000) * 1000000000));
}

static json_t *json_flags(const struct trace_event *e)
{
	static const struct {
		unsigned bit;
		const char *word;
	} words[] = {{TRACE_COMPAT, "compat"}, {TRACE_COARSE, "coarse"}, {TRACE_RESTART, "restart"},
		{TRACE_CUT, "cut"}};
	json_t *flags = json_array();

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (e->flags & words[i].bit)
			json_array_append_new(flags, json_string(words[i].word));
	}
	return flags;
}

static json_t *json_args(const struct trace_event *e, const struct syscall_info *s)
{
	json_t *args = json_array();
	unsigned n = call_args_count(e, s);

	for (unsigned i = 0; i < n; i++) {
		struct strbuf text = {0};

		call_args_add(&text, e, s, i, NULL);
		json_array_append_new(args, json_text(text.text ? text.text : ""));
		strbuf_release(&text);
	}
	return args;
}

static void set_bytes(json_t *object, const char *key, const char *bytes, size_t len)
{
	_cleanup_free_ char *copy = strndup(bytes, len);

	if (copy)
		json_object_set_new(object, key, json_text(copy));
}

static void set_paths(json_t *object, const struct trace_event *e, const struct syscall_info *s)
{
	size_t len;
	const char *path = call_args_path(e, s, 0, &len);

	if (path)
		set_bytes(object, "path", path, len);
	path = call_args_path(e, s, 1, &len);
	if (path)
		set_bytes(object, "to", path, len);
}

static void set_call(json_t *object, const struct trace_event *e, const char *name)
{
	const struct syscall_info *s = trace_event_syscall(e);
	char buf[SYSCALL_NAME_MAX];
	int fd = trace_event_fd(e), number = trace_event_errno(e);

	if (!s) {
		json_object_set_new(object, "call", json_sprintf("syscall_%u", e->nr));
	} else {
		json_object_set_new(object, "call", json_string(s->name));
		json_object_set_new(object, "class", json_string(trace_call_name(s->call)));
		json_object_set_new(object, "args", json_args(e, s));
		set_paths(object, e, s);
	}
	if (fd >= 0)
		json_object_set_new(object, "fd", json_integer(fd));
	if (name)
		json_object_set_new(object, "name", json_text(name));
	json_object_set_new(object, "file", json_string(trace_file_name(e->file)));
	if (e->what != TRACE_PENDING && (!s || syscall_has_result(s)))
		json_object_set_new(object, "result", json_integer(e->ret));
	if (number)
		json_object_set_new(object, "errno", json_string(errno_name(number, buf)));
	json_object_set_new(object, "duration_ns", json_integer(e->dur_ns));
}

static void set_other(json_t *object, const struct trace_event *e)
{
	char buf[SYSCALL_NAME_MAX];
	int killed = (int)e->ret & 0x7f;

	json_object_set_new(object, "result", json_integer(e->ret));
	if (e->what == TRACE_SIGNAL)
		json_object_set_new(object, "signal", json_string(signal_name(e->nr, buf)));
	if (e->what == TRACE_SIGNAL && e->args[0])
		json_object_set_new(object, "sender", json_integer((json_int_t)e->args[0]));
	if (e->what == TRACE_EXIT && killed)
		json_object_set_new(object, "signal", json_string(signal_name(killed, buf)));
	if (e->what == TRACE_EXEC && e->text)
		set_bytes(object, "path", e->text, e->text_len);
}

json_t *calls_json(
	const struct trace_event *e, uint64_t record, const char *name, const char *observer)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	json_object_set_new(object, "record", json_integer((json_int_t)record));
	json_object_set_new(object, "seq", json_integer((json_int_t)e->seq));
	json_object_set_new(object, "observer", json_text(observer));
	json_object_set_new(object, "start", json_time(e->start_ns));
	json_object_set_new(object, "pid", json_integer(e->pid));
	json_object_set_new(object, "tid", json_integer(e->tid));
	json_object_set_new(object, "what", json_string(trace_what_name(e->what)));
	if (e->what == TRACE_CALL || e->what == TRACE_PENDING || e->what == TRACE_ASYNC)
		set_call(object, e, name);
	else
		set_other(object, e);
	json_object_set_new(object, "flags", json_flags(e));
	return object;
}

json_t *calls_descriptor_json(
	const struct trace_descriptor *d, uint64_t record, const char *observer)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	json_object_set_new(object, "record", json_integer((json_int_t)record));
	json_object_set_new(object, "seq", json_integer((json_int_t)d->seq));
	json_object_set_new(object, "observer", json_text(observer));
	json_object_set_new(object, "time", json_time(d->time_ns));
	json_object_set_new(object, "pid", json_integer(d->pid));
	json_object_set_new(object, "change", json_string(trace_change_name(d->change)));
	json_object_set_new(object, "fd", json_integer(d->fd));
	if (d->from >= 0)
		json_object_set_new(object, "from", json_integer(d->from));
	json_object_set_new(object, "file", json_string(trace_file_name(d->file)));
	json_object_set_new(object, "name", json_text(d->name));
	return object;
}
