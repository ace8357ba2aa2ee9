#include "collect/beegfs_parse.h"

#include "base/array.h"
#include "collect/procfile.h"
#include <limpet/batch.h>
#include <string.h>

static int8_t field_column(const char *word, size_t len)
{
	static const char *const names[BEEGFS_N] = {"write_KiB", "read_KiB", "reqs", "qlen", "bsy"};

	if (len == 4 && !memcmp(word, "name", 4))
		return -1;
	for (unsigned i = 0; i < BEEGFS_N; i++) {
		if (strlen(names[i]) == len && !memcmp(word, names[i], len))
			return (int8_t)(i + 1);
	}
	return 0;
}

static void heading_parse(const char *p, struct beegfs_heading *h)
{
	const char *word;
	size_t len;

	for (h->n = 0; h->n < BEEGFS_FIELDS_MAX && scan_word(&p, &word, &len); h->n++)
		h->column[h->n] = field_column(word, len);
}

static void copy_name(struct beegfs_server *s, const char *word, size_t len)
{
	len = len > PARSE_NAME_MAX ? PARSE_NAME_MAX : len;
	memcpy(s->name, word, len);
	s->name[len] = '\0';
}

/* Parse a line of numbers; false if it is another line. */
static bool line_parse(const char *p, const struct beegfs_heading *h, struct beegfs_server *ret)
{
	const char *word, *number;
	uint64_t value;
	size_t len;
	unsigned i = 0;

	*ret = (struct beegfs_server){0};
	for (unsigned c = 0; c < BEEGFS_N; c++)
		ret->values[c] = LP_MISSING;
	for (; i < h->n && scan_word(&p, &word, &len); i++) {
		number = word;
		if (h->column[i] == -1 || i == 0)
			copy_name(ret, word, len);
		if (h->column[i] == -1)
			continue;
		if (!scan_u64(&number, &value) || number != word + len || value > INT64_MAX)
			return false;
		if (h->column[i] > 0)
			ret->values[h->column[i] - 1] = (int64_t)value;
	}
	return h->n && i == h->n;
}

bool beegfs_parse_server(const char **p, struct beegfs_heading *h, struct beegfs_server *ret)
{
	while (**p) {
		const char *line = *p, *word;
		const char *at = line;
		size_t len;

		scan_line(p);
		if (!scan_word(&at, &word, &len))
			continue;
		if (len == 6 && !memcmp(word, "nodeID", 6))
			heading_parse(line, h);
		else if (line_parse(line, h, ret))
			return true;
	}
	return false;
}
