/* The importer for Performance Co-Pilot: archives that pmlogger wrote, and live pmcd.
 *
 * libpcp reads both. It has the LGPL, so it is linked dynamically, and only if it was available
 * when limpet was built.
 */
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "import/importer.h"
#include "import/remote/gather.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pcp/pmapi.h>
#include <stdio.h>
#include <string.h>

#define SCHEME "pcp://"
#define SUFFIX ".meta"
#define MAGIC 0x50052600u /* of all files of an archive; the last byte is the version */
#define BATCH_RESULTS 200
#define LIVE_SAMPLES 60
#define LIVE_EVERY_US US_PER_SEC

/* A metric of a table that the source has. */
struct pcp_metric {
	const char *name;
	pmID id;
	pmDesc desc;
};

struct pcp {
	struct lp_source base;
	struct lp_select select;
	struct mapping mapping;
	struct strmap present; /* name of a metric -> index in the list */
	struct gather gather;
	struct pcp_metric *metrics;
	pmID *ids;
	size_t n_metrics;
	int context;
	bool live;
	char host[MAXHOSTNAMELEN];
	int64_t n_live;	      /* number of samples to take */
	int64_t next_live_us; /* when the next one is due (CLOCK_MONOTONIC) */
	bool pending, ended;
	uint64_t n_results;
};

/* One value of one instance at one time, as a series for gather.h. */
struct pcp_value {
	const struct pcp *p;
	const char *metric, *device;
	int64_t ms;
	double value;
};

static void pcp_close(struct lp_source *base)
{
	struct pcp *p = (struct pcp *)base;

	if (p->context >= 0)
		pmDestroyContext(p->context);
	gather_release(&p->gather);
	mapping_release(&p->mapping);
	strmap_release(&p->present);
	free(p->metrics);
	free(p->ids);
	lp_catalogue_free(base->catalogue);
	free(base->path);
	free(p);
}
DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static int pcp_error(const struct pcp *p, int code, const char *what, struct lp_err *err)
{
	char text[PM_MAXERRMSGLEN];

	return lp_err_set(err, -EIO, "%s: cannot %s: %s", p->base.path, what,
		pmErrStr_r(code, text, sizeof(text)));
}

/* Look up a metric of the table; many systems lack some. */
static int metric_find(struct pcp *p, const char *name, struct lp_err *err)
{
	struct pcp_metric m = {.name = name};
	uint32_t ignored;

	if (!name || strmap_get(&p->present, name, &ignored) || pmLookupName(1, &name, &m.id) < 1 ||
		m.id == PM_ID_NULL || pmLookupDesc(m.id, &m.desc) < 0)
		return 0;
	if (strmap_put(&p->present, name, (uint32_t)p->n_metrics) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", p->base.path);
	p->metrics[p->n_metrics] = m;
	p->ids[p->n_metrics++] = m.id;
	return 0;
}

static int metrics_find(struct pcp *p, struct lp_err *err)
{
	size_t most = 0;
	int r = 0;

	for (size_t i = 0; i < p->mapping.n_groups; i++)
		most += 2 * p->mapping.groups[i].n_columns;
	p->metrics = calloc(most + 1, sizeof(*p->metrics));
	p->ids = calloc(most + 1, sizeof(*p->ids));
	if (!p->metrics || !p->ids)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", p->base.path);
	for (size_t i = 0; i < p->mapping.n_groups; i++) {
		const struct mapping_group *g = &p->mapping.groups[i];

		for (size_t c = 0; r == 0 && c < g->n_columns; c++) {
			r = metric_find(p, g->columns[c].metric, err);
			if (r == 0)
				r = metric_find(p, g->columns[c].per, err);
		}
	}
	if (r == 0 && !p->n_metrics)
		r = lp_err_set(err, -ENODATA,
			"%s has none of the metrics that limpet knows (disk.dev.*, "
			"network.interface.*, and others in data/mappings/pcp.yaml)",
			p->base.path);
	return r;
}

static const char *value_label(const void *series, const char *label)
{
	const struct pcp_value *v = series;

	if (!strcmp(label, "__name__"))
		return v->metric;
	if (!strcmp(label, "instance"))
		return v->p->host;
	return !strcmp(label, "device") ? v->device : NULL;
}

static int value_sample(const void *series, size_t i, int64_t *ret_ms, double *ret_value)
{
	const struct pcp_value *v = series;

	*ret_ms = v->ms;
	*ret_value = v->value;
	return i == 0;
}

/* Take the values of one metric in a result. */
static int values_take(struct pcp *p, const struct pcp_metric *m, const pmValueSet *set, int64_t ms,
	struct lp_err *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < set->numval; i++) {
		struct pcp_value v = {.p = p, .metric = m->name, .ms = ms};
		const struct gather_input in = {
			.label = value_label, .series = &v, .sample = value_sample, .n = 1};
		char *name = NULL;
		pmAtomValue atom;

		if (pmExtractValue(
			    set->valfmt, &set->vlist[i], m->desc.type, &atom, PM_TYPE_DOUBLE) < 0)
			continue;
		v.value = atom.d;
		if (m->desc.indom != PM_INDOM_NULL &&
			(p->live ? pmNameInDom(m->desc.indom, set->vlist[i].inst, &name)
				 : pmNameInDomArchive(m->desc.indom, set->vlist[i].inst, &name)) <
				0)
			continue;
		v.device = name;
		r = gather_take(&p->gather, &in, err);
		free(name);
	}
	return r;
}

static int result_take(struct pcp *p, const pmResult *result, struct lp_err *err)
{
	int64_t ms = (int64_t)result->timestamp.tv_sec * 1000 + result->timestamp.tv_usec / 1000;
	int r = 0;

	p->n_results++;
	for (int i = 0; r == 0 && i < result->numpmid; i++) {
		const pmValueSet *set = result->vset[i];

		for (size_t k = 0; r == 0 && k < p->n_metrics; k++) {
			if (p->ids[k] == set->pmid)
				r = values_take(p, &p->metrics[k], set, ms, err);
		}
	}
	return r;
}

/* Fetch the next record of the archive: 1, or 0 at its end. */
static int archive_fetch(struct pcp *p, struct lp_err *err)
{
	pmResult *result;
	int r = pmFetchArchive(&result);
	int64_t us;

	if (r == PM_ERR_EOL)
		return 0;
	if (r < 0)
		return pcp_error(p, r, "read the archive", err);
	us = (int64_t)result->timestamp.tv_sec * US_PER_SEC + result->timestamp.tv_usec;
	r = 1;
	if (p->select.to_us && us >= p->select.to_us)
		r = 0;
	else if (result_take(p, result, err) < 0)
		r = err->code;
	pmFreeResult(result);
	return r;
}

/* Fetch from pmcd, once per second. */
static int live_fetch(struct pcp *p, struct lp_err *err)
{
	int64_t now = clock_us(CLOCK_MONOTONIC);
	pmResult *result;
	int r;

	if (!p->select.follow && p->n_live == 0)
		return 0;
	if (now < p->next_live_us && p->select.follow)
		return -EAGAIN;
	if (now < p->next_live_us) {
		struct timespec pause = {(p->next_live_us - now) / US_PER_SEC,
			(p->next_live_us - now) % US_PER_SEC * 1000};

		nanosleep(&pause, NULL);
	}
	p->next_live_us =
		(p->next_live_us ? p->next_live_us : clock_us(CLOCK_MONOTONIC)) + LIVE_EVERY_US;
	p->n_live--;
	r = pmFetch((int)p->n_metrics, p->ids, &result);
	if (r < 0)
		return pcp_error(p, r, "fetch from pmcd", err);
	r = result_take(p, result, err);
	pmFreeResult(result);
	return r < 0 ? r : 1;
}

/* Fetch some results, or all remaining ones. */
static int results_fetch(struct pcp *p, struct lp_err *err)
{
	int r = 1, n = 0, most = p->live ? 1 : BATCH_RESULTS;

	gather_begin(&p->gather, INT64_MIN);
	while (r == 1 && n < most) {
		r = p->live ? live_fetch(p, err) : archive_fetch(p, err);
		n += r == 1;
	}
	p->ended = r == 0;
	p->pending = n > 0;
	if (!p->base.interval_us)
		p->base.interval_us = p->live ? LIVE_EVERY_US : gather_interval_us(&p->gather);
	return r < 0 ? r : 0;
}

static int pcp_next(struct lp_source *base, struct lp_batch **ret, struct lp_err *err)
{
	struct pcp *p = (struct pcp *)base;
	int r;

	pmUseContext(p->context);
	for (;;) {
		if (p->pending) {
			r = gather_next(&p->gather, ret, err);
			if (r != 0)
				return r;
			p->pending = false;
		}
		if (p->ended)
			return 0;
		r = results_fetch(p, err);
		if (r < 0)
			return r;
	}
}

static const struct lp_source_ops pcp_ops = {.next = pcp_next, .close = pcp_close};

/* Begin slightly before the selected time, for the first differences. */
static int archive_begin(struct pcp *p, struct lp_err *err)
{
	pmLogLabel label;
	struct timeval from;
	int r = pmGetArchiveLabel(&label);

	if (r < 0)
		return pcp_error(p, r, "read the label", err);
	snprintf(p->host, sizeof(p->host), "%s", label.ll_hostname);
	from = label.ll_start;
	if (p->select.from_us / US_PER_SEC - 600 > from.tv_sec)
		from = (struct timeval){p->select.from_us / US_PER_SEC - 600, 0};
	r = pmSetMode(PM_MODE_FORW, &from, 0);
	return r < 0 ? pcp_error(p, r, "go to the beginning", err) : 0;
}

/* "HOST?for=10s": parse and remove the part after the host. */
static int live_options(struct pcp *p, char *name, struct lp_err *err)
{
	char *query = strchr(name, '?');
	int64_t span_us;

	p->n_live = LIVE_SAMPLES;
	if (!query)
		return 0;
	*query++ = '\0';
	if (strncmp(query, "for=", 4) != 0 || span_parse(query + 4, &span_us, NULL) < 0 ||
		span_us < LIVE_EVERY_US)
		return lp_err_set(err, -EINVAL,
			"%s: the only parameter is ?for=SPAN, how long to watch (60s)",
			p->base.path);
	p->n_live = span_us / LIVE_EVERY_US;
	return 0;
}

static int context_open(struct pcp *p, struct lp_err *err)
{
	const char *path = p->base.path;
	size_t len = strlen(path), suffix = strlen(SUFFIX);
	_cleanup_free_ char *name = NULL;
	int r;

	p->live = !strncmp(path, SCHEME, strlen(SCHEME));
	if (p->live)
		name = strdup(path + strlen(SCHEME));
	else
		name = strndup(path,
			len > suffix && !strcmp(path + len - suffix, SUFFIX) ? len - suffix : len);
	if (!name)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	r = p->live ? live_options(p, name, err) : 0;
	if (r < 0)
		return r;
	if (p->live && !*name)
		return lp_err_set(err, -EINVAL, "%s names no host", path);
	p->context = pmNewContext(p->live ? PM_CONTEXT_HOST : PM_CONTEXT_ARCHIVE, name);
	if (p->context < 0)
		return pcp_error(
			p, p->context, p->live ? "connect to pmcd" : "open the archive", err);
	if (!p->live)
		return archive_begin(p, err);
	pmGetContextHostName_r(p->context, p->host, sizeof(p->host));
	return p->host[0] ? 0 : lp_err_set(err, -EIO, "%s does not report its host name", path);
}

static int pcp_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	struct pcp *p = calloc(1, sizeof(*p));
	_cleanup_(lp_source_closep) struct lp_source *source = p ? &p->base : NULL;
	int r;

	(void)options;
	if (!p)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	p->context = -1;
	p->base = (struct lp_source){
		.ops = &pcp_ops, .path = strdup(path), .catalogue = lp_catalogue_new()};
	if (!p->base.path || !p->base.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	if (select)
		p->select = *select;
	r = context_open(p, err);
	if (r == 0)
		r = mapping_load_builtin(&p->mapping, "pcp", err);
	if (r == 0)
		r = metrics_find(p, err);
	if (r == 0)
		r = gather_init(&p->gather, &p->mapping, p->base.catalogue, &p->present, warn,
			p->base.path, err);
	/* Read the beginning of an archive to find the interval. */
	if (r == 0 && !p->live)
		r = results_fetch(p, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(source);
	return 0;
}

static enum import_match pcp_probe(const char *path, const unsigned char *head, size_t n)
{
	size_t len = strlen(path), suffix = strlen(SUFFIX);
	uint32_t magic;

	/* An archive consists of three or more files; this one represents it. */
	if (n < 8 || len <= suffix || strcmp(path + len - suffix, SUFFIX) != 0)
		return IMPORT_NO;
	magic = (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 |
		head[7];
	/* Version 3 has the type of the record between its length and the magic number. */
	if ((magic & 0xffffff00) != MAGIC && n >= 12)
		magic = (uint32_t)head[8] << 24 | (uint32_t)head[9] << 16 |
			(uint32_t)head[10] << 8 | head[11];
	return (magic & 0xffffff00) == MAGIC ? IMPORT_YES : IMPORT_NO;
}

static const char *const schemes[] = {SCHEME, NULL};

const struct importer importer_pcp = {
	.name = "pcp",
	.summary = "archives of Performance Co-Pilot, and live pmcd",
	.description =
		"Reads archives that pmlogger wrote, named by the name that their files share "
		"(/var/log/pcp/pmlogger/oss3/20261117) or by the .meta file, and live servers: "
		"pcp://HOST queries pmcd there once per second for a minute, or for as long as "
		"pcp://HOST?for=10s says.\n\n"
		"Disks, network interfaces, processors, memory and pressure become the same "
		"columns that 'limpet record' records; clients of Lustre and GPFS are read, too.",
	.schemes = schemes,
	.live = true,
	.base_suffix = SUFFIX,
	.probe = pcp_probe,
	.open = pcp_open,
};
