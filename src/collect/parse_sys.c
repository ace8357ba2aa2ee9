#include "collect/parse_sys.h"

#include "base/array.h"
#include "collect/procfile.h"
#include <limpet/batch.h>
#include <string.h>

unsigned parse_number(const char *text, int64_t *ret)
{
	const char *p = text + strspn(text, " \t");
	bool negative = *p == '-';
	uint64_t value;

	p += negative;
	if (*p < '0' || *p > '9' || !scan_u64(&p, &value) || value > INT64_MAX)
		return 0;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return 1;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

unsigned parse_hex(const char *text, int64_t *ret)
{
	uint64_t value = 0;
	unsigned digits = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (; hex_digit(*text) >= 0 && digits < 16; text++, digits++)
		value = value << 4 | (unsigned)hex_digit(*text);
	if (!digits || value > INT64_MAX)
		return 0;
	*ret = (int64_t)value;
	return 1;
}

/* "2.5" or "100", in thousandths; moves past it. */
static bool scan_milli(const char **p, int64_t *ret)
{
	int64_t tenths = 0;
	uint64_t whole;

	if (!scan_u64(p, &whole) || whole > 1000000)
		return false;
	if ((*p)[0] == '.' && (*p)[1] >= '0' && (*p)[1] <= '9') {
		tenths = (*p)[1] - '0';
		*p += 2;
		*p += strspn(*p, "0123456789");
	}
	*ret = (int64_t)whole * 1000 + tenths * 100;
	return true;
}

unsigned parse_ib_rate(const char *text, int64_t *ret_mbps, int64_t *ret_lanes)
{
	const char *p = text, *paren = strchr(text, '(');
	uint64_t lanes;

	if (!scan_milli(&p, ret_mbps))
		return 0;
	if (!paren || ++paren == p || !scan_u64(&paren, &lanes) || *paren != 'X' || lanes > 64)
		return 1;
	*ret_lanes = (int64_t)lanes;
	return 2;
}

unsigned parse_ib_state(const char *text, int64_t *ret)
{
	uint64_t state;

	if (!scan_u64(&text, &state))
		return 0;
	*ret = state == 4;
	return 1;
}

/* A number followed by blanks and `unit`. */
static unsigned parse_speed(const char *text, const char *unit, int64_t *ret)
{
	int64_t value;

	if (!scan_milli(&text, &value))
		return 0;
	text += strspn(text, " ");
	if (strncmp(text, unit, strlen(unit)) != 0)
		return 0;
	*ret = value;
	return 1;
}

unsigned parse_pcie_speed(const char *text, int64_t *ret_mts)
{
	return parse_speed(text, "GT/s", ret_mts);
}

unsigned parse_sata_speed(const char *text, int64_t *ret_mbps)
{
	return parse_speed(text, "Gbps", ret_mbps);
}

unsigned parse_md_action(const char *text, int64_t *ret)
{
	static const char *const actions[] = {[MD_IDLE] = "idle",
		[MD_RESYNC] = "resync",
		[MD_RECOVER] = "recover",
		[MD_CHECK] = "check",
		[MD_REPAIR] = "repair",
		[MD_RESHAPE] = "reshape",
		[MD_FROZEN] = "frozen"};
	size_t len = strcspn(text, "\n");

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strlen(actions[i]) == len && !strncmp(text, actions[i], len)) {
			*ret = (int64_t)i;
			return 1;
		}
	}
	return 0;
}

unsigned parse_md_completed(const char *text, int64_t *ret_permille)
{
	uint64_t done, all;

	if (!scan_u64(&text, &done))
		return 0;
	text += strspn(text, " /");
	if (!scan_u64(&text, &all) || !all || done > all || all > UINT64_MAX / 1000)
		return 0;
	*ret_permille = (int64_t)(done * 1000 / all);
	return 1;
}

unsigned parse_md_state(const char *text, int64_t *ret)
{
	static const char *const bad[] = {"inactive", "clear", "suspended", "broken"};

	*ret = 1;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!strncmp(text, bad[i], strlen(bad[i])))
			*ret = 0;
	}
	return 1;
}

/* After the headings: nread nwritten reads writes wtime wlentime wupdate rtime rlentime rupdate
 * wcnt rcnt. */
unsigned parse_kstat_io(const char *text, int64_t ret[KSTAT_IO_N])
{
	static const int8_t at[] = {KSTAT_RD_BYTES, KSTAT_WR_BYTES, KSTAT_RD_OPS, KSTAT_WR_OPS, -1,
		KSTAT_WAIT_NS, -1, -1, KSTAT_RUN_NS};
	const char *p = text;
	unsigned found = 0;
	uint64_t value;

	if (!scan_line(&p) || strncmp(p, "nread", 5) != 0 || !scan_line(&p))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(at) && scan_u64(&p, &value); i++) {
		if (at[i] < 0 || value > INT64_MAX)
			continue;
		ret[at[i]] = (int64_t)value;
		found++;
	}
	return found;
}

unsigned parse_kstat(const char *text, const char *const *names, unsigned n, int64_t *ret)
{
	const char *p = text;
	unsigned found = 0;

	do {
		const char *at = p, *word;
		uint64_t type, value;
		size_t len;

		if (!scan_word(&at, &word, &len) || !scan_u64(&at, &type) ||
			!scan_u64(&at, &value) || value > INT64_MAX)
			continue;
		for (unsigned i = 0; i < n; i++) {
			if (strlen(names[i]) != len || memcmp(names[i], word, len) != 0)
				continue;
			ret[i] = (int64_t)value;
			found++;
		}
	} while (scan_line(&p));
	return found;
}

bool parse_kstat_dataset(const char *text, char ret[PARSE_NAME_MAX + 1])
{
	const char *p = text;

	do {
		const char *at = p, *word;
		uint64_t type;
		size_t len;

		if (strncmp(p, "dataset_name", 12) != 0)
			continue;
		at += 12;
		if (!scan_u64(&at, &type) || !scan_word(&at, &word, &len))
			return false;
		len = strcspn(word, "\n"); /* it may contain blanks */
		while (word[len - 1] == ' ')
			len--;
		if (len > PARSE_NAME_MAX)
			return false;
		memcpy(ret, word, len);
		ret[len] = '\0';
		return true;
	} while (scan_line(&p));
	return false;
}
