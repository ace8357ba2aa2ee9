#include "collect/gpfs_parse.h"

#include "collect/procfile.h"
#include <limpet/batch.h>
#include <stdlib.h>
#include <string.h>

/* A word and the one after it; moves `*p` past both. False at the end of the line. */
static bool scan_pair(
	const char **p, const char **key, size_t *n_key, const char **value, size_t *n_value)
{
	return scan_word(p, key, n_key) && scan_word(p, value, n_value);
}

static bool key_is(const char *key, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(key, name, len);
}

static void copy_name(char ret[PARSE_NAME_MAX + 1], const char *text, size_t len)
{
	len = len > PARSE_NAME_MAX ? PARSE_NAME_MAX : len;
	memcpy(ret, text, len);
	ret[len] = '\0';
}

/* A number of seconds with decimals, in millionths; false if it is not a number or unreasonable. */
static bool seconds_us(const char *text, int64_t *ret)
{
	double value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	value = strtod(text, &end);
	if (end == text || !(value >= 0 && value < 1e12))
		return false;
	*ret = (int64_t)(value * 1e6);
	return true;
}

static void take_count(const char *text, int64_t *ret)
{
	uint64_t value;

	if (scan_u64(&text, &value) && value <= INT64_MAX)
		*ret = (int64_t)value;
}

/* Parse "_r_ _ops_ 12 _b_ 4096 _tw_ 2.5 ...", for reads or writes. */
static void nsd_direction(const char *p, bool writes, struct gpfs_nsd *nsd)
{
	const char *key, *value;
	size_t n_key, n_value;

	while (scan_pair(&p, &key, &n_key, &value, &n_value)) {
		if (key_is(key, n_key, "_ops_"))
			take_count(value, &nsd->values[writes ? NSD_WR_OPS : NSD_RD_OPS]);
		else if (key_is(key, n_key, "_b_"))
			take_count(value, &nsd->values[writes ? NSD_WR_BYTES : NSD_RD_BYTES]);
		else if (key_is(key, n_key, "_tw_"))
			seconds_us(value, &nsd->values[writes ? NSD_WR_US : NSD_RD_US]);
	}
}

/* Does a line begin a response to `request`: "_mmpmon::nsd_ds_", "_nsd_ds_"? Moves past the word.
 */
static bool begins(const char **p, const char *request)
{
	const char *at = *p, *word;
	size_t len, n = strlen(request);

	if (!scan_word(&at, &word, &len) || len < n + 2 || word[0] != '_' || word[len - 1] != '_' ||
		memcmp(word + len - 1 - n, request, n) != 0)
		return false;
	*p = at;
	return true;
}

static void nsd_names(const char *p, struct gpfs_nsd *nsd)
{
	const char *key, *value;
	size_t n_key, n_value;

	while (scan_pair(&p, &key, &n_key, &value, &n_value)) {
		if (key_is(key, n_key, "_d_") && !key_is(value, n_value, "-"))
			copy_name(nsd->name, value, n_value);
		else if (key_is(key, n_key, "_dev_"))
			copy_name(nsd->device, value, n_value);
	}
}

bool gpfs_parse_nsd(const char **p, struct gpfs_nsd *ret)
{
	while (**p) {
		const char *at = *p;

		*ret = (struct gpfs_nsd){0};
		if (!begins(&at, "nsd_ds") && !begins(&at, "nsd_dst")) {
			scan_line(p);
			continue;
		}
		for (unsigned i = 0; i < NSD_N; i++)
			ret->values[i] = LP_MISSING;
		nsd_names(at, ret);
		while (scan_line(p) && (!strncmp(*p, "_r_", 3) || !strncmp(*p, "_w_", 3)))
			nsd_direction(*p + 3, (*p)[1] == 'w', ret);
		if (ret->name[0])
			return true;
	}
	return false;
}

bool gpfs_parse_fs(const char **p, struct gpfs_fs *ret)
{
	static const char *const keys[GPFS_FS_N] = {
		"_br_", "_bw_", "_oc_", "_cc_", "_rdc_", "_wc_"};
	const char *key, *value;
	size_t n_key, n_value;

	while (**p) {
		const char *at = *p;
		bool ours = begins(&at, "fs_io_s");

		scan_line(p);
		if (!ours)
			continue;
		*ret = (struct gpfs_fs){0};
		for (unsigned i = 0; i < GPFS_FS_N; i++)
			ret->values[i] = LP_MISSING;
		while (scan_pair(&at, &key, &n_key, &value, &n_value)) {
			/* "-" where no file system is mounted. */
			if (key_is(key, n_key, "_fs_") && !key_is(value, n_value, "-"))
				copy_name(ret->name, value, n_value);
			for (unsigned i = 0; i < GPFS_FS_N; i++) {
				if (key_is(key, n_key, keys[i]))
					take_count(value, &ret->values[i]);
			}
		}
		if (ret->name[0])
			return true;
	}
	return false;
}

/* No node does so many I/Os; a double still represents such a number exactly. */
#define COUNT_MAX (UINT64_C(1) << 48)

/* "_L_ 1.1 10.0 _NL_ 4826": a range of times in ms, and the number of I/Os in it. */
static bool rhist_line(const char *p, double *ret_ms, double *ret_n)
{
	const char *key, *low, *high, *number;
	double from, to;
	size_t n_key, n;
	uint64_t count;

	if (!scan_word(&p, &key, &n_key) || !key_is(key, n_key, "_L_") ||
		!scan_word(&p, &low, &n) || !scan_word(&p, &high, &n) ||
		!scan_word(&p, &key, &n_key) || !key_is(key, n_key, "_NL_") ||
		!scan_word(&p, &number, &n) || !scan_u64(&number, &count) || count > COUNT_MAX)
		return false;
	from = strtod(low, NULL);
	to = strtod(high, NULL);
	*ret_n = (double)count;
	/* The last range is open: its end is 0. */
	*ret_ms = to > from && to < 1e9 ? (from + to) / 2 : from;
	return *ret_ms >= 0 && *ret_ms < 1e9;
}

unsigned gpfs_parse_rhist(const char *text, int64_t *ret_ios, int64_t *ret_us)
{
	double ios = 0, us = 0, ms, n;
	unsigned found = 0;
	const char *p = text;

	do {
		if (!rhist_line(p, &ms, &n))
			continue;
		ios += n;
		us += n * ms * 1000;
		found++;
	} while (scan_line(&p));
	if (!found || !(us < 9e18))
		return 0;
	*ret_ios = (int64_t)ios;
	*ret_us = (int64_t)us;
	return found;
}

/* "Waiting 12.5 sec since ...", or "0x7F3C waiting 12.5 seconds, ...". */
static bool waiter_line(const char *line, int64_t *ret_us)
{
	size_t len = strcspn(line, "\n");
	const char *at = memmem(line, len, "aiting ", 7);

	if (!at || at == line || (at[-1] != 'W' && at[-1] != 'w'))
		return false;
	at += 7;
	return seconds_us(at, ret_us) && memmem(at, len - (size_t)(at - line), " sec", 4);
}

bool gpfs_parse_waiters(const char *text, int64_t *ret_n, int64_t *ret_longest_ms)
{
	int64_t longest = 0, n = 0, us;
	const char *p = text;

	if (!strstr(text, "waiters"))
		return false;
	do {
		if (!waiter_line(p, &us))
			continue;
		n++;
		longest = us > longest ? us : longest;
	} while (scan_line(&p));
	*ret_n = n;
	*ret_longest_ms = longest / 1000;
	return true;
}
