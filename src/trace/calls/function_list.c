#include "trace/calls/function_list.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <string.h>

#define LIST_BYTES_MAX ((size_t)16 << 20)

/* "on NAME", "off NAME", "# ..." or nothing. */
static bool line_is_good(const char *line, size_t len)
{
	size_t word = 0, name, end;

	while (word < len && line[word] != ' ' && line[word] != '\t')
		word++;
	if (len == 0 || line[0] == '#')
		return true;
	if (!(word == 2 && !memcmp(line, "on", 2)) && !(word == 3 && !memcmp(line, "off", 3)))
		return false;
	for (name = word; name < len && (line[name] == ' ' || line[name] == '\t'); name++)
		;
	for (end = name; end < len && line[end] > ' '; end++)
		;
	return end > name && (end == len || (end + 1 == len && line[end] == '\r'));
}

static int lines_check(const char *path, const char *text, size_t size, struct lp_err *err)
{
	unsigned number = 1;

	if (memchr(text, '\0', size))
		return lp_err_set(err, -EBADMSG, "%s is not a list of functions", path);
	for (size_t at = 0; at < size; number++) {
		const char *newline = memchr(text + at, '\n', size - at);
		size_t len = newline ? (size_t)(newline - text) - at : size - at;

		if (!line_is_good(text + at, len))
			return lp_err_set(err, -EBADMSG,
				"%s:%u: expected 'on NAME', 'off NAME' or a comment", path, number);
		at += len + 1;
	}
	return 0;
}

int function_list_read(const char *path, struct calls_list *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r = file_slurp(path, LIST_BYTES_MAX, &text, &size, err);

	if (r == 0)
		r = lines_check(path, text, size, err);
	if (r < 0)
		return r;
	if (!calls_list_take(text, size, ret))
		return lp_err_set(err, -EBADMSG, "%s: the list names no function", path);
	return 0;
}

const char *function_of_name(const char *name)
{
	const char *image = strchr(name, ':'), *function = image ? strchr(image + 1, ':') : NULL;

	return function ? function + 1 : name;
}
