#include "collect/ceph_parse.h"

#include "base/array.h"
#include <limpet/batch.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Skip a string that begins at its quote; NULL if it does not end. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return *p ? p + 1 : NULL;
}

/* Skip a value of any type; NULL if it does not end. */
static const char *skip_value(const char *p)
{
	unsigned depth = 0;

	p = skip_blanks(p);
	do {
		if (*p == '"') {
			p = skip_string(p);
			if (!p)
				return NULL;
		} else if (*p == '{' || *p == '[') {
			depth++;
			p++;
		} else if (*p == '}' || *p == ']') {
			if (!depth)
				return p;
			depth--;
			p++;
		} else if (*p == '\0' || depth > DEPTH_MAX) {
			return depth ? NULL : p;
		} else if (depth) {
			p++;
		} else {
			return p + strcspn(p, ",}] \t\r\n");
		}
	} while (depth);
	return p;
}

/* The value of `key` in the object that begins at `p`; NULL if there is none. */
static const char *find_key(const char *p, const char *key)
{
	size_t len = strlen(key);

	p = skip_blanks(p);
	if (*p != '{')
		return NULL;
	p = skip_blanks(p + 1);
	while (*p == '"') {
		const char *name = p + 1, *end = skip_string(p);

		if (!end)
			return NULL;
		p = skip_blanks(end);
		if (*p != ':')
			return NULL;
		p = skip_blanks(p + 1);
		if ((size_t)(end - 1 - name) == len && !memcmp(name, key, len))
			return p;
		p = skip_value(p);
		if (!p)
			return NULL;
		p = skip_blanks(p);
		p = *p == ',' ? skip_blanks(p + 1) : p;
	}
	return NULL;
}

static bool number_at(const char *p, double *ret)
{
	char *end;

	if (!p || (*p != '-' && (*p < '0' || *p > '9')))
		return false;
	*ret = strtod(p, &end);
	return end != p && *ret >= 0 && *ret < 9e18;
}

static unsigned take(const char *p, double factor, int64_t *ret)
{
	double value;

	if (!number_at(p, &value) || value * factor >= 9e18)
		return 0;
	*ret = (int64_t)(value * factor);
	return 1;
}

/* A time is an object with a count and a sum in seconds; a count is a number. */
struct ceph_counter {
	const char *section, *name;
	int8_t count, sum; /* columns; -1: none. A number has only `count`. */
};

static const struct ceph_counter counters[] = {
	{"osd", "op_latency", CEPH_OPS, CEPH_OP_US},
	{"osd", "op_r_latency", CEPH_RD_OPS, CEPH_RD_US},
	{"osd", "op_w_latency", CEPH_WR_OPS, CEPH_WR_US},
	{"osd", "subop_latency", CEPH_SUBOPS, CEPH_SUBOP_US},
	{"osd", "op_out_bytes", CEPH_RD_BYTES, -1},
	{"osd", "op_in_bytes", CEPH_WR_BYTES, -1},
	{"osd", "op_wip", CEPH_IN_PROGRESS, -1},
	{"osd", "recovery_ops", CEPH_RECOVERIES, -1},
	/* FileStore comes first: an OSD that was moved to BlueStore has both, and those of
	 * FileStore are all 0. */
	{"filestore", "journal_latency", CEPH_COMMITS, CEPH_COMMIT_US},
	{"filestore", "apply_latency", CEPH_APPLIES, CEPH_APPLY_US},
	{"bluestore", "commit_lat", CEPH_COMMITS, CEPH_COMMIT_US},
	{"bluestore", "txc_commit_lat", CEPH_COMMITS, CEPH_COMMIT_US},
	{"bluestore", "submit_lat", CEPH_APPLIES, CEPH_APPLY_US},
	{"bluestore", "txc_submit_lat", CEPH_APPLIES, CEPH_APPLY_US},
	{"bluestore", "kv_commit_lat", CEPH_KVS, CEPH_KV_US},
	{"bluestore", "kv_sync_lat", CEPH_KVS, CEPH_KV_US},
};

unsigned ceph_parse_perf(const char *text, int64_t values[CEPH_N])
{
	unsigned found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		const struct ceph_counter *c = &counters[i];
		const char *section = find_key(text, c->section);
		const char *at = section ? find_key(section, c->name) : NULL;

		if (!at)
			continue;
		if (*at != '{') {
			found += take(at, 1, &values[c->count]);
			continue;
		}
		found += take(find_key(at, "avgcount"), 1, &values[c->count]);
		if (c->sum >= 0)
			found += take(find_key(at, "sum"), 1e6, &values[c->sum]);
	}
	return found;
}

bool ceph_parse_historic(const char *text, int64_t *ret_slowest_us)
{
	const char *p = find_key(text, "ops");
	double longest = 0, value;

	if (!p)
		p = find_key(text, "Ops");
	if (!p || *p != '[')
		return false;
	p = skip_blanks(p + 1);
	while (*p == '{') {
		if (number_at(find_key(p, "duration"), &value) && value > longest)
			longest = value;
		p = skip_value(p);
		if (!p)
			return false;
		p = skip_blanks(p);
		p = *p == ',' ? skip_blanks(p + 1) : p;
	}
	*ret_slowest_us = longest < 9e12 ? (int64_t)(longest * 1e6) : 0;
	return *p == ']';
}
