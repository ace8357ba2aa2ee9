/* Words that people and files contain: times, spans, names; and short texts of the kernel and of
 * the lab's own programs. */
#include "base/cleanup.h"
#include "base/safe_text.h"
#include "base/time.h"
#include "fuzz.h"
#include "import/csv_events.h"
#include "import/csv_value.h"
#include "lab/disk_trouble.h"
#include "lab/traffic.h"
#include "lab/watch.h"
#include "lab/workload_env.h"
#include "model/endpoints.h"
#include "trace/calls/calls_budget.h"
#include <limpet/identity.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good)
{
	if (!good)
		abort();
}

/* An accepted time prints as the same time. */
static void check_time(const char *text)
{
	char shown[TIME_TEXT_MAX], again[TIME_TEXT_MAX];
	int64_t us = 0, back = 0;

	if (time_parse(text, &us, NULL) < 0)
		return;
	must(time_parse(time_format(us, shown), &back, NULL) == 0);
	must(back == us || shown[0] == '@'); /* '@' has no fraction */
	must(!strcmp(time_format(back, again), shown));
	time_format_compact(us, shown);
}

/* If the fast parser of CSV files accepts a text, the general one returns the same value. */
static void check_csv_time(const char *text, size_t len)
{
	static struct csv_clock clock;
	int64_t fast = 0, slow = 0;

	if (!csv_clock_parse(&clock, text, len, &fast) || !memchr(text, '-', len))
		return;
	must(time_parse(text, &slow, NULL) == 0);
	must(fast == slow);
}

static void check_span(const char *text)
{
	char shown[TIME_TEXT_MAX];
	int64_t us = 0;

	if (span_parse(text, &us, NULL) < 0)
		return;
	must(us >= 0);
	must(*span_format(us, shown));
}

static void check_name(const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	struct lp_identity *identity = lp_identity_parse(text);

	must(copy != NULL);
	safe_text_make(copy);
	must(safe_text_is(copy) && strlen(copy) <= strlen(text));
	if (safe_text_is(text))
		must(!strcmp(copy, text));
	if (identity)
		must(identity->observer && identity->kind && identity->name && identity->text);
	lp_identity_unref(identity);
}

/* Accepted ends of a connection print as the same ends. */
static void check_endpoints(const char *text)
{
	struct trace_endpoints ends = {0}, again = {0};
	char name[ENDPOINTS_TEXT_MAX];

	if (!endpoints_parse(text, &ends) || !endpoints_connected(&ends))
		return;
	must(endpoints_parse(endpoints_name(&ends, name), &again));
	must(!memcmp(&ends, &again, sizeof(ends)));
}

static void check_lab(const char *text)
{
	struct disk_shown shown;
	enum csv_events events;
	uint64_t used, all;
	char address[16];
	uint16_t port;

	if (traffic_target_parse(text, address, &port, NULL) == 0)
		must(memchr(address, '\0', sizeof(address)) && port);
	watch_cpu_parse(text, &used, &all);
	disk_trouble_parse(text, &shown, NULL);
	workload_parse_bytes(text, &all);
	csv_events_parse(text, &events, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	double value;

	if (!text)
		return 0;
	check_time(text);
	check_csv_time(text, strlen(text));
	check_span(text);
	check_name(text);
	check_endpoints(text);
	check_lab(text);
	if (calls_budget_parse(text, &value, NULL) == 0)
		must(value > 0 && value <= 1);
	csv_number_parse(text, strlen(text), &value);
	return 0;
}
