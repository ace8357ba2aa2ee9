#include "model/inventory.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)16 << 20)

void inventory_release(struct inventory *inv)
{
	for (uint32_t i = 0; i < inv->n; i++)
		free(inv->observers[i]);
	free(inv->observers);
	strmap_release(&inv->index);
	*inv = (struct inventory){0};
}

bool inventory_has(const struct inventory *inv, const char *observer)
{
	uint32_t ignored;

	return strmap_get(&inv->index, observer, &ignored);
}

const char *inventory_refuses(const char *text, size_t len)
{
	if (!len)
		return "the name of an observer is empty";
	if (len > INVENTORY_NAME_MAX)
		return "this is too long for the name of an observer";
	if (memchr(text, '/', len))
		return "this names a component; an inventory lists observers, the part before the "
		       "'/'";
	for (size_t i = 0; i < len; i++) {
		if (text[i] == ' ' || text[i] == '\t')
			return "there is more than one word; write one observer per line";
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return "there is a control character in the name";
	}
	return NULL;
}

int inventory_add(struct inventory *inv, const char *text, size_t len)
{
	_cleanup_free_ char *name = strndup(text, len);

	if (!name)
		return -ENOMEM;
	if (inventory_has(inv, name))
		return 0;
	if (array_reserve(&inv->observers, &inv->cap, (size_t)inv->n + 1, sizeof(char *)) < 0 ||
		strmap_put(&inv->index, name, inv->n) < 0)
		return -ENOMEM;
	inv->observers[inv->n++] = TAKE_PTR(name);
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Parse one line, without its newline. */
static int line_take(struct inventory *inv, const char *line, size_t len, const char *name,
	unsigned number, struct lp_err *err)
{
	const char *comment = memchr(line, '#', len), *why;

	if (comment)
		len = (size_t)(comment - line);
	while (len && is_blank(line[len - 1]))
		len--;
	for (; len && is_blank(*line); len--)
		line++;
	if (!len)
		return 0;
	why = inventory_refuses(line, len);
	if (why)
		return lp_err_set(err, -EINVAL, "%s:%u: %s", name, number, why);
	return inventory_add(inv, line, len) < 0 ? lp_err_sys(err, -ENOMEM, "cannot read %s", name)
						 : 0;
}

int inventory_parse(
	const char *text, size_t len, const char *name, struct inventory *ret, struct lp_err *err)
{
	unsigned number = 0;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		int r = line_take(ret, text + at, n, name, ++number, err);

		if (r < 0)
			return r;
		at += n + 1;
	}
	if (!ret->n)
		return lp_err_set(err, -EINVAL, "%s lists no observer", name);
	return 0;
}

int inventory_read(const char *path, struct inventory *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	bool standard = !strcmp(path, "-");
	size_t size;
	int r = file_slurp(standard ? "/dev/stdin" : path, FILE_MAX_BYTES, &text, &size, err);

	return r < 0 ? r
		     : inventory_parse(text, size, standard ? "standard input" : path, ret, err);
}
