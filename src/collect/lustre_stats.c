#include "collect/lustre_stats.h"

#include "base/array.h"
#include "collect/parse_sys.h"
#include "collect/procfile.h"
#include <limpet/batch.h>
#include <stdio.h>
#include <string.h>

static bool word_is(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(word, text, len) == 0;
}

/* "[usec]", or "[usecs]" in later versions. */
static bool unit_is(const char *word, size_t len, const char *unit)
{
	size_t n = strlen(unit);

	if (len < n + 2 || word[0] != '[' || memcmp(word + 1, unit, n) != 0)
		return false;
	return word[n + 1] == ']' || (word[n + 1] == 's' && word[n + 2] == ']');
}

/* Add to a column, which may still be missing. */
static unsigned add_value(int64_t *values, int column, uint64_t value)
{
	int64_t v = value > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)value;

	if (column < 0)
		return 0;
	if (values[column] == LP_MISSING)
		values[column] = v;
	else if (values[column] <= INT64_MAX - v)
		values[column] += v;
	return 1;
}

/* Parse a line after its name: "N samples [UNIT] MIN MAX SUM", or only up to the unit. */
static unsigned parse_sample(const char *p, const struct lustre_line *l, int64_t *values)
{
	uint64_t count, least, most, sum;
	const char *word;
	unsigned found;
	size_t len;

	if (!scan_u64(&p, &count) || !scan_word(&p, &word, &len) || !word_is(word, len, "samples"))
		return 0;
	if (!scan_word(&p, &word, &len) || (l->unit && !unit_is(word, len, l->unit)))
		return 0;
	found = add_value(values, l->count, count);
	if (scan_u64(&p, &least) && scan_u64(&p, &most) && scan_u64(&p, &sum))
		found += add_value(values, l->sum, sum);
	return found;
}

unsigned lustre_parse_stats(const char *text, const struct lustre_line *wanted, int64_t *values)
{
	const char *p = text;
	unsigned found = 0;

	do {
		const char *at = p, *word;
		size_t len;

		if (!scan_word(&at, &word, &len))
			continue;
		for (const struct lustre_line *l = wanted; l->name; l++) {
			if (word_is(word, len, l->name))
				found += parse_sample(at, l, values);
		}
	} while (scan_line(&p));
	return found;
}

/* The upper end of a bucket: "16:", "1K:", "4M:". */
static bool scan_bucket(const char **p, uint64_t *ret)
{
	uint64_t value;

	if (!scan_u64(p, &value) || value > UINT32_MAX)
		return false;
	if (**p == 'K')
		value <<= 10;
	else if (**p == 'M')
		value <<= 20;
	if (**p == 'K' || **p == 'M')
		++*p;
	if (**p != ':')
		return false;
	++*p;
	*ret = value;
	return true;
}

/* No server does so many I/Os; sums of such counts fit into 64 bits. */
#define COUNT_MAX (UINT64_C(1) << 48)

/* A line of a histogram: bucket, reads, writes. */
static bool parse_bucket(
	const char *p, uint64_t *ret_end, uint64_t *ret_reads, uint64_t *ret_writes)
{
	uint64_t skip;
	const char *bar;

	if (!scan_bucket(&p, ret_end) || !scan_u64(&p, ret_reads))
		return false;
	while (scan_u64(&p, &skip))
		;
	bar = p + strspn(p, " \t");
	if (*bar != '|')
		return false;
	p = bar + 1;
	return scan_u64(&p, ret_writes) && *ret_reads < COUNT_MAX && *ret_writes < COUNT_MAX;
}

/* Move to the line after the one that begins with `title`. */
static bool find_section(const char **p, const char *title)
{
	size_t len = strlen(title);

	do {
		if (strncmp(*p, title, len) == 0)
			return scan_line(p);
	} while (scan_line(p));
	return false;
}

unsigned lustre_parse_brw_times(const char *text, int64_t *ret_ios, int64_t *ret_ms)
{
	uint64_t end, reads, writes, ios = 0, quarters = 0;
	const char *p = text;

	if (!find_section(&p, "I/O time (1/1000s)"))
		return 0;
	while (parse_bucket(p, &end, &reads, &writes)) {
		/* The bucket "8:" has times from 4 to 8 ms; "1:" has all below. */
		uint64_t more, each = 3 * end > 2 ? 3 * end : 2;

		ios += reads + writes;
		if (__builtin_mul_overflow(reads + writes, each, &more) ||
			__builtin_add_overflow(quarters, more, &quarters) || quarters > INT64_MAX)
			return 0;
		if (!scan_line(&p))
			break;
	}
	*ret_ios = (int64_t)ios;
	*ret_ms = (int64_t)(quarters / 4);
	return 2;
}

/* The number after "NAME:" on a line; other text may precede the name. */
static bool line_number(const char *line, const char *name, int64_t *ret)
{
	const char *p = line + strspn(line, " \t");
	uint64_t value;

	if (strncmp(p, name, strlen(name)) != 0)
		return false;
	p += strlen(name);
	if (!scan_u64(&p, &value) || value > INT64_MAX)
		return false;
	*ret = (int64_t)value;
	return true;
}

static unsigned rpc_line(const char *line, struct lustre_rpc *r)
{
	return line_number(line, "read RPCs in flight:", &r->read_in_flight) ||
		line_number(line, "write RPCs in flight:", &r->write_in_flight) ||
		line_number(line, "pending read pages:", &r->pending_read) ||
		line_number(line, "pending write pages:", &r->pending_write);
}

unsigned lustre_parse_rpc_stats(const char *text, struct lustre_rpc *ret)
{
	uint64_t end, reads, writes;
	const char *p = text;
	unsigned found = 0;

	*ret = (struct lustre_rpc){
		LP_MISSING, LP_MISSING, LP_MISSING, LP_MISSING, LP_MISSING, LP_MISSING};
	do
		found += rpc_line(p, ret);
	while (scan_line(&p));
	p = text;
	if (!find_section(&p, "pages per rpc"))
		return found;
	ret->reads = ret->writes = 0;
	while (parse_bucket(p, &end, &reads, &writes)) {
		ret->reads += (int64_t)reads;
		ret->writes += (int64_t)writes;
		if (!scan_line(&p))
			break;
	}
	return found + 2;
}

/* The word after "NAME:", without quotes; false if it is another line, or the word is too long for
 * a name. */
static bool line_word(const char *line, const char *name, char ret[PARSE_NAME_MAX + 1])
{
	const char *p = line + strspn(line, " \t"), *word;
	size_t len;

	if (strncmp(p, name, strlen(name)) != 0)
		return false;
	p += strlen(name);
	if (!scan_word(&p, &word, &len))
		return false;
	if (len >= 2 && word[0] == '"' && word[len - 1] == '"') {
		word++;
		len -= 2;
	}
	if (len > PARSE_NAME_MAX)
		return false;
	memcpy(ret, word, len);
	ret[len] = '\0';
	return true;
}

unsigned lustre_parse_recovery(const char *text, int64_t *ret)
{
	char status[PARSE_NAME_MAX + 1];
	const char *p = text;

	do {
		if (line_word(p, "status:", status)) {
			*ret = !strcmp(status, "RECOVERING") || !strcmp(status, "WAITING");
			return 1;
		}
	} while (scan_line(&p));
	return 0;
}

static unsigned import_line(const char *line, struct lustre_import *i, bool *state_known)
{
	char state[PARSE_NAME_MAX + 1];

	if (line_word(line, "state:", state)) {
		i->full = !strcmp(state, "FULL") || !strcmp(state, "IDLE");
		*state_known = true;
		return 1;
	}
	return line_word(line, "target:", i->target) ||
		line_word(line, "current_connection:", i->nid) ||
		line_number(line, "inflight:", &i->in_flight) ||
		line_number(line, "timeouts:", &i->timeouts) ||
		line_number(line, "connection_attempts:", &i->attempts);
}

unsigned lustre_parse_import(const char *text, struct lustre_import *ret)
{
	bool state_known = false;
	const char *p = text;
	unsigned found = 0;

	*ret = (struct lustre_import){
		.in_flight = LP_MISSING, .timeouts = LP_MISSING, .attempts = LP_MISSING};
	do
		found += import_line(p, ret, &state_known);
	while (scan_line(&p));
	if (!strcmp(ret->nid, "<none>"))
		ret->nid[0] = '\0';
	return state_known ? found : 0;
}

/* The number after "KEY:" within the braces of a line; 0 if there is none. */
static int64_t brace_number(const char *line, const char *key)
{
	size_t len = strcspn(line, "\n");
	const char *at = memmem(line, len, key, strlen(key));
	uint64_t value;

	if (!at)
		return 0;
	at += strlen(key);
	return scan_u64(&at, &value) && value < INT64_MAX / 4 ? (int64_t)value : 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* One line of a job: " read_bytes: { samples: 10, unit: bytes, min: 4096, max: 4096, sum: 40960 }".
 * For reads and writes limpet uses the bytes, for other operations their number. "read:" is the
 * time of reads; in versions before 2.5 it is their bytes. */
static void job_line(const char *line, struct lustre_job *job)
{
	const char *p = line + strspn(line, " \t");
	size_t len = strcspn(p, "\n");
	bool reads = begins(p, "read_bytes:"), writes = begins(p, "write_bytes:");

	if (begins(p, "read:") || begins(p, "write:")) {
		if (!memmem(p, len, "unit: bytes", 11))
			return;
		reads = *p == 'r';
		writes = *p == 'w';
	}
	if (reads)
		job->values[LUSTRE_JOB_RD_BYTES] += brace_number(p, "sum:");
	if (writes)
		job->values[LUSTRE_JOB_WR_BYTES] += brace_number(p, "sum:");
	job->values[LUSTRE_JOB_OPS] += brace_number(p, "samples:");
}

/* Copy a job's name. Since 2.15 the kernel prints unusual characters as "\x20". Control characters
 * stay in that form. */
static void job_name(char ret[PARSE_NAME_MAX + 1], const char *at, size_t len)
{
	size_t n = 0;

	while (len && (at[len - 1] == ' ' || at[len - 1] == '\t'))
		len--;
	for (const char *end = at + len; at < end && n < PARSE_NAME_MAX; at++) {
		char digits[3] = {0};
		int64_t byte;

		if (end - at >= 4 && at[0] == '\\' && at[1] == 'x') {
			memcpy(digits, at + 2, 2);
			if (parse_hex(digits, &byte) && byte >= ' ' && byte != 0x7f) {
				ret[n++] = (char)byte;
				at += 3;
				continue;
			}
		}
		ret[n++] = *at;
	}
	if (!n)
		ret[n++] = '-';
	ret[n] = '\0';
}

#define JOB_BEGIN "- job_id:"

static bool find_job(const char **p)
{
	do {
		if (!strncmp(*p, JOB_BEGIN, strlen(JOB_BEGIN)))
			return true;
	} while (scan_line(p));
	return false;
}

bool lustre_parse_job(const char **p, struct lustre_job *ret)
{
	const char *at;

	if (!find_job(p))
		return false;
	at = *p + strlen(JOB_BEGIN);
	at += strspn(at, " \t\"");
	*ret = (struct lustre_job){0};
	job_name(ret->name, at, strcspn(at, "\"\n"));
	while (scan_line(p) && **p == ' ')
		job_line(*p, ret);
	return true;
}

/* The column of a field in the heading. "rtr" and "peer" are credits of others, and are ignored. */
static int8_t lnet_field(const char *word, size_t len)
{
	static const struct {
		const char *name;
		enum lnet_column column;
	} fields[] = {{"status", LNET_UP}, {"max", LNET_CREDITS_MAX}, {"tx", LNET_CREDITS},
		{"min", LNET_CREDITS_MIN}};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (word_is(word, len, fields[i].name))
			return (int8_t)(1 + fields[i].column);
	}
	return 0;
}

static void lnet_parse_heading(const char *p, struct lnet_heading *h)
{
	const char *word;
	size_t len;

	for (h->n = 0; h->n < LNET_FIELDS_MAX && scan_word(&p, &word, &len); h->n++)
		h->column[h->n] = lnet_field(word, len);
}

/* Store the value of a field in its column. */
static void lnet_take(int8_t column, const char *word, size_t len, int64_t ret[LNET_N])
{
	if (!column)
		return;
	if (column == 1 + LNET_UP)
		ret[LNET_UP] = word_is(word, len, "up");
	else
		parse_number(word, &ret[column - 1]);
}

enum parse_result lnet_parse_ni(const char **p, struct lnet_heading *h, const char **ret_name,
	size_t *ret_len, int64_t ret[LNET_N])
{
	const char *at = *p, *word;
	unsigned field = 0;
	size_t len;
	bool any = scan_word(&at, ret_name, ret_len);

	scan_line(p);
	if (!any)
		return PARSE_SKIP;
	if (word_is(*ret_name, *ret_len, "nid")) {
		lnet_parse_heading(at, h);
		return PARSE_SKIP;
	}
	if (!h->n || *ret_len > PARSE_NAME_MAX)
		return PARSE_BAD;
	if (*ret_len > 3 && !memcmp(*ret_name + *ret_len - 3, "@lo", 3))
		return PARSE_SKIP;
	for (unsigned i = 0; i < LNET_N; i++)
		ret[i] = LP_MISSING;
	for (; field < h->n && scan_word(&at, &word, &len); field++)
		lnet_take(h->column[field], word, len, ret);
	return field == h->n ? PARSE_OK : PARSE_BAD;
}

/* Messages in flight, their maximum, errors; then messages sent, received, routed, dropped; then
 * the same in bytes. */
unsigned lnet_parse_stats(const char *text, int64_t ret[LNET_N])
{
	static const int8_t at[] = {-1, -1, -1, LNET_SENT, LNET_RECEIVED, -1, LNET_DROPPED,
		LNET_TX_BYTES, LNET_RX_BYTES, -1, -1};
	unsigned found = 0;
	uint64_t value;

	for (unsigned i = 0; i < LNET_N; i++)
		ret[i] = LP_MISSING;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		if (!scan_u64(&text, &value))
			return 0;
		if (at[i] < 0 || value > INT64_MAX)
			continue;
		ret[at[i]] = (int64_t)value;
		found++;
	}
	return found;
}
