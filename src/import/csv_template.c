#include "import/csv_template.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "import/unpack.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int csv_header_init(struct csv_header *h, const struct csv_field *fields, size_t n)
{
	*h = (struct csv_header){.names = calloc(n + 1, sizeof(*h->names))};
	if (!h->names)
		return -ENOMEM;
	for (; h->n < n; h->n++) {
		h->names[h->n] = strndup(fields[h->n].text, fields[h->n].len);
		if (!h->names[h->n])
			return -ENOMEM;
	}
	return 0;
}

void csv_header_release(struct csv_header *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->names[i]);
	free(h->names);
	*h = (struct csv_header){0};
}

/* The number of columns with that name; `*ret_column` is the first. */
static size_t header_count(const struct csv_header *h, const char *name,
	int (*compare)(const char *, const char *), int *ret_column)
{
	size_t count = 0;

	for (size_t i = h->n; i-- > 0;) {
		if (compare(h->names[i], name))
			continue;
		*ret_column = (int)i;
		count++;
	}
	return count;
}

int csv_header_find(const struct csv_header *h, const char *name, struct lp_err *err)
{
	char list[256];
	size_t len = 0, count;
	int column = -1;

	count = header_count(h, name, strcmp, &column);
	if (!count)
		count = header_count(h, name, strcasecmp, &column);
	if (count == 1)
		return column;
	if (count > 1)
		return lp_err_set(err, -EINVAL, "%zu columns are called '%.64s'", count, name);
	list[0] = '\0';
	for (size_t i = 0; i < h->n && len < sizeof(list); i++)
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%s%.64s", i ? ", " : "", h->names[i]);
	return lp_err_set(err, -EINVAL, "no column is called '%.64s'; there are: %s%s", name, list,
		len >= sizeof(list) ? "..." : "");
}

/* Remove the last name from path[0..*len). Returns the length of the name. */
static size_t path_pop(const char *path, size_t *len, const char **ret_name)
{
	size_t end, start;

	for (end = *len; end && path[end - 1] == '/';)
		end--;
	for (start = end; start && path[start - 1] != '/';)
		start--;
	*len = start;
	*ret_name = path + start;
	return end - start;
}

/* The name `level` places before the last one, or NULL if the path is too short. */
static char *path_name(const char *path, int level)
{
	size_t len = strlen(path), n;
	const char *name;

	do {
		n = path_pop(path, &len, &name);
		if (n == 0 || (n <= 2 && !strncmp(name, "..", n)))
			return NULL;
	} while (level--);
	return strndup(name, n);
}

/* The name of the `level`th directory above a file. It comes from the user's path or, if that is
 * too short (relative, or with dots), from the file system. */
static char *path_dir_name(const char *path, int level)
{
	_cleanup_free_ char *real = NULL;
	char *name = path_name(path, level);

	if (!name) {
		real = realpath(path, NULL);
		name = real ? path_name(real, level) : NULL;
	}
	return name ? name : strdup("root"); /* the file is in / */
}

/* The name of the file, without suffixes that only mean text. Other dots stay: "10.0.0.1.csv" and
 * "10.0.0.2.csv" must not become one. */
static char *path_stem(const char *path)
{
	static const char *const extensions[] = {
		".csv", ".tsv", ".txt", ".dat", ".data", ".log", ".out"};
	const char *base = path_basename(path);
	size_t len = unpack_stem(base);

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
		size_t n = strlen(extensions[i]);

		if (len > n && !strncasecmp(base + len - n, extensions[i], n)) {
			len -= n;
			i = (size_t)-1; /* there may be another suffix: x.log.csv */
		}
	}
	return strndup(base, len);
}

static int template_add(struct csv_template *t, char *text, size_t column)
{
	if (array_reserve(&t->parts, &t->cap, t->n + 1, sizeof(*t->parts)) < 0) {
		free(text);
		return -ENOMEM;
	}
	t->parts[t->n++] = (struct csv_template_part){.text = text, .column = column};
	return 0;
}

static int template_add_text(struct csv_template *t, char *text)
{
	return text ? template_add(t, text, 0) : -ENOMEM;
}

/* Resolve "{name}". */
static int template_add_name(struct csv_template *t, const char *name, const char *path,
	const struct csv_header *h, struct lp_err *err)
{
	int column;

	if (!strcmp(name, "dir"))
		return template_add_text(t, path_dir_name(path, 1));
	if (!strcmp(name, "dir2"))
		return template_add_text(t, path_dir_name(path, 2));
	if (!strcmp(name, "file"))
		return template_add_text(t, path_stem(path));
	column = csv_header_find(h, name, err);
	return column < 0 ? column : template_add(t, NULL, (size_t)column);
}

int csv_template_compile(struct csv_template *t, const char *text, const char *path,
	const struct csv_header *h, struct lp_err *err)
{
	*t = (struct csv_template){0};
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "{}");
		_cleanup_free_ char *name = NULL;
		int r;

		if (len) {
			r = template_add_text(t, strndup(p, len));
			p += len;
		} else {
			len = strcspn(p + 1, "{}");
			if (*p == '}' || p[1 + len] != '}' || len == 0)
				return lp_err_set(err, -EINVAL,
					"'%.128s' has an unpaired or empty brace at character %td",
					text, p - text + 1);
			name = strndup(p + 1, len);
			r = name ? template_add_name(t, name, path, h, err) : -ENOMEM;
			p += len + 2;
		}
		if (r == -ENOMEM)
			return lp_err_sys(err, r, "cannot use '%.128s'", text);
		if (r < 0)
			return r;
	}
	return 0;
}

void csv_template_release(struct csv_template *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->parts[i].text);
	free(t->parts);
	*t = (struct csv_template){0};
}

struct csv_field csv_template_key(
	const struct csv_template *t, const struct csv_field *fields, struct strbuf *scratch)
{
	const struct csv_field *only = NULL;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!t->parts[i].text) {
			only = &fields[t->parts[i].column];
			n++;
		}
	}
	if (n == 1)
		return *only;
	strbuf_reset(scratch);
	for (size_t i = 0; i < t->n; i++) {
		const struct csv_field *f = &fields[t->parts[i].column];

		if (t->parts[i].text)
			continue;
		strbuf_add(scratch, f->text, f->len);
		strbuf_putc(scratch, '\0'); /* no field contains one */
	}
	return (struct csv_field){.text = scratch->text, .len = scratch->len};
}

void csv_template_expand(
	const struct csv_template *t, const struct csv_field *fields, struct strbuf *ret_name)
{
	strbuf_reset(ret_name);
	for (size_t i = 0; i < t->n; i++) {
		const struct csv_field *f = &fields[t->parts[i].column];

		if (t->parts[i].text)
			strbuf_puts(ret_name, t->parts[i].text);
		else
			strbuf_add(ret_name, f->text, f->len);
	}
}
