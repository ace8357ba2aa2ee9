#include "collect/parse.h"

#include "base/array.h"
#include "collect/procfile.h"
#include <string.h>

/* A number as a cell. Counters of 64 bits keep their bits; a negative number (old kernels let the
 * requests in flight drop below zero) is not a measurement. */
static bool scan_cell(const char **p, int64_t *ret)
{
	const char *s = *p;
	uint64_t value;

	if (scan_u64(&s, &value)) {
		*ret = (int64_t)value;
	} else {
		while (*s == ' ' || *s == '\t')
			s++;
		if (*s++ != '-' || *s < '0' || *s > '9' || !scan_u64(&s, &value))
			return false;
		*ret = LP_MISSING;
	}
	*p = s;
	return true;
}

static unsigned scan_cells(const char **p, int64_t *cells, unsigned max)
{
	unsigned n = 0;

	while (n < max && scan_cell(p, &cells[n]))
		n++;
	return n;
}

/* Does the line end here? */
static bool at_end(const char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\r')
		p++;
	return *p == '\n' || *p == '\0';
}

static enum parse_result diskstats_line(const char *p, struct disk_line *ret)
{
	uint64_t major, minor;
	unsigned n;

	if (at_end(p))
		return PARSE_SKIP;
	if (!scan_u64(&p, &major) || !scan_u64(&p, &minor) || major > UINT32_MAX ||
		minor > UINT32_MAX || !scan_word(&p, &ret->name, &ret->len) ||
		ret->len > PARSE_NAME_MAX)
		return PARSE_BAD;
	ret->major = (uint32_t)major;
	ret->minor = (uint32_t)minor;
	n = scan_cells(&p, ret->values, DISK_N_COLUMNS);
	if (n == 4 && at_end(p))
		return PARSE_SKIP;
	if (n <= DISK_RQ_TICKS || (n < DISK_N_COLUMNS && !at_end(p)))
		return PARSE_BAD;
	for (; n < DISK_N_COLUMNS; n++)
		ret->values[n] = LP_MISSING;
	/* It is printed as an unsigned number even if it is negative. */
	if (ret->values[DISK_IN_FLIGHT] > INT32_MAX || ret->values[DISK_IN_FLIGHT] < 0)
		ret->values[DISK_IN_FLIGHT] = LP_MISSING;
	return PARSE_OK;
}

enum parse_result parse_diskstats_line(const char **p, struct disk_line *ret)
{
	enum parse_result r = diskstats_line(*p, ret);

	scan_line(p);
	return r;
}

/* The name ends at the last colon of its line: numbers have no colons, but aliases ("eth0:1")
 * do. */
static const char *last_colon(const char *p)
{
	const char *colon = NULL;

	for (; *p && *p != '\n'; p++) {
		if (*p == ':')
			colon = p;
	}
	return colon;
}

/* The rule of the kernel, except that aliases have a colon. */
static bool is_interface_name(const char *name, size_t len)
{
	if (len == 0 || len > PARSE_NAME_MAX || (name[0] == '.' && len == 1) ||
		(name[0] == '.' && name[1] == '.' && len == 2))
		return false;
	return !memchr(name, '/', len) && !memchr(name, ' ', len) && !memchr(name, '\t', len);
}

static enum parse_result netdev_line(const char *p, struct net_line *ret)
{
	const char *colon = last_colon(p);

	if (!colon) /* the two headings have bars instead of a colon */
		return at_end(p) || memchr(p, '|', strcspn(p, "\n")) ? PARSE_SKIP : PARSE_BAD;
	while (*p == ' ' || *p == '\t')
		p++;
	ret->name = p;
	ret->len = (size_t)(colon - p);
	if (!is_interface_name(p, ret->len))
		return PARSE_BAD;
	p = colon + 1;
	return scan_cells(&p, ret->values, NET_N_COLUMNS) == NET_N_COLUMNS ? PARSE_OK : PARSE_BAD;
}

enum parse_result parse_netdev_line(const char **p, struct net_line *ret)
{
	enum parse_result r = netdev_line(*p, ret);

	scan_line(p);
	return r;
}

/* Does the text begin with this key? Moves past it if so. */
static bool scan_key(const char **p, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(*p, key, len) != 0)
		return false;
	*p += len;
	return true;
}

struct key_column {
	const char *key; /* with the following character: "ctxt " */
	unsigned column;
};

/* If this line begins with one of the keys, read its number. */
static unsigned scan_keyed(
	const char *p, const struct key_column *keys, size_t n_keys, int64_t *values)
{
	for (size_t i = 0; i < n_keys; i++) {
		const char *s = p;

		if (s[0] == keys[i].key[0] && scan_key(&s, keys[i].key))
			return values[keys[i].column] == LP_MISSING &&
				scan_cell(&s, &values[keys[i].column]);
	}
	return 0;
}

unsigned parse_stat(const char *text, int64_t values[HOST_N_COLUMNS])
{
	static const struct key_column keys[] = {
		{"ctxt ", HOST_CTXT},
		{"procs_running ", HOST_PROCS_RUNNING},
		{"procs_blocked ", HOST_PROCS_BLOCKED},
	};
	const char *p = text;
	unsigned found = 0;
	int64_t cpus = 0;

	do {
		const char *s = p;

		if (!scan_key(&s, "cpu"))
			found += scan_keyed(p, keys, ARRAY_SIZE(keys), values);
		else if (*s == ' ')
			found += scan_cells(
				&s, &values[HOST_CPU_USER], HOST_CPU_STEAL - HOST_CPU_USER + 1);
		else if (*s >= '0' && *s <= '9')
			cpus++;
	} while (scan_line(&p));
	if (cpus > 0) {
		values[HOST_N_CPUS] = cpus;
		found++;
	}
	return found;
}

unsigned parse_meminfo(const char *text, int64_t values[HOST_N_COLUMNS])
{
	static const struct key_column keys[] = {
		{"MemTotal:", HOST_MEM_TOTAL_KB},
		{"MemFree:", HOST_MEM_FREE_KB},
		{"MemAvailable:", HOST_MEM_AVAILABLE_KB},
		{"Buffers:", HOST_MEM_BUFFERS_KB},
		{"Cached:", HOST_MEM_CACHED_KB},
		{"Dirty:", HOST_MEM_DIRTY_KB},
		{"Writeback:", HOST_MEM_WRITEBACK_KB},
		{"SwapTotal:", HOST_SWAP_TOTAL_KB},
		{"SwapFree:", HOST_SWAP_FREE_KB},
	};
	const char *p = text;
	unsigned found = 0;

	do {
		found += scan_keyed(p, keys, ARRAY_SIZE(keys), values);
	} while (found < ARRAY_SIZE(keys) && scan_line(&p));
	return found;
}

/* "1.25" -> 125. */
static bool scan_hundredths(const char **p, int64_t *ret)
{
	const char *s = *p;
	uint64_t whole;

	if (!scan_u64(&s, &whole) || whole > INT32_MAX || s[0] != '.' || s[1] < '0' || s[1] > '9' ||
		s[2] < '0' || s[2] > '9')
		return false;
	*ret = (int64_t)whole * 100 + (int64_t)(s[1] - '0') * 10 + (s[2] - '0');
	*p = s + 3;
	return true;
}

unsigned parse_loadavg(const char *text, int64_t values[HOST_N_COLUMNS])
{
	unsigned n = 0;

	while (n < 3 && scan_hundredths(&text, &values[HOST_LOAD1_X100 + n]))
		n++;
	return n;
}

/* The number after "total=" on this line. */
static unsigned scan_total(const char *p, int64_t *ret)
{
	const char *word;
	size_t len;

	while (scan_word(&p, &word, &len)) {
		if (scan_key(&word, "total="))
			return scan_cell(&word, ret);
	}
	return 0;
}

unsigned parse_pressure(const char *text, int64_t *some, int64_t *full)
{
	const char *p = text;
	unsigned found = 0;

	do {
		const char *s = p;

		if (scan_key(&s, "some "))
			found += scan_total(s, some);
		else if (full && scan_key(&s, "full "))
			found += scan_total(s, full);
	} while (scan_line(&p));
	return found;
}

unsigned parse_cgroup_stat(const char *text, struct cgroup_stat *ret)
{
	enum { USER_US, SYSTEM_US, THROTTLED_US, THROTTLED_NS, WAIT_NS, N_KEYS };
	static const struct key_column keys[N_KEYS] = {
		{"user_usec ", USER_US},
		{"system_usec ", SYSTEM_US},
		{"throttled_usec ", THROTTLED_US},
		{"throttled_time ", THROTTLED_NS},
		{"wait_sum ", WAIT_NS},
	};
	int64_t found[N_KEYS] = {LP_MISSING, LP_MISSING, LP_MISSING, LP_MISSING, LP_MISSING};
	const char *p = text;
	unsigned n = 0;

	do {
		n += scan_keyed(p, keys, N_KEYS, found);
	} while (scan_line(&p));
	*ret = (struct cgroup_stat){
		.user_us = found[USER_US], .system_us = found[SYSTEM_US], .stall_us = LP_MISSING};
	if (found[THROTTLED_US] != LP_MISSING)
		ret->stall_us = found[THROTTLED_US];
	else if (found[THROTTLED_NS] != LP_MISSING)
		ret->stall_us = found[THROTTLED_NS] / 1000 +
			(found[WAIT_NS] == LP_MISSING ? 0 : found[WAIT_NS] / 1000);
	return n;
}
