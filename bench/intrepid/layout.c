/* The files beside the archives: topology.yaml with its table, events.csv and truth.csv. */
#include "base/cleanup.h"
#include "base/time.h"
#include "intrepid.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char topology_yaml[] = "# An Intrepid-like system: made by gen_intrepid.\n"
				    "version: 1\n"
				    "components:\n"
				    "  - match: \"*/disk:*\"\n"
				    "    table: attachments.csv\n"
				    "groups:\n"
				    "  - name: luns\n"
				    "    match: \"*/disk:*\"\n"
				    "    split_by: [priority, set]\n"
				    "parts: [array, controller, server, lun]\n"
				    "issuer: server\n";

void attachment_name(char *buf, size_t size, unsigned array, unsigned server, unsigned lun)
{
	snprintf(buf, size, "fs%u/disk:%u.%02u", array * SERVERS + server + 1, array + FIRST_ARRAY,
		lun);
}

static FILE *file_create(const struct intrepid *sys, const char *name, struct lp_err *err)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", sys->dir, name);
	f = fopen(path, "we");
	if (!f)
		lp_err_sys(err, -errno, "cannot create %s", path);
	return f;
}

static int file_close(FILE *f, const char *name, struct lp_err *err)
{
	return fclose(f) < 0 ? lp_err_sys(err, -errno, "cannot write %s", name) : 0;
}

static int write_topology(const struct intrepid *sys, struct lp_err *err)
{
	FILE *f = file_create(sys, "topology.yaml", err);

	if (!f)
		return err->code;
	fputs(topology_yaml, f);
	return file_close(f, "topology.yaml", err);
}

static int write_attachments(const struct intrepid *sys, struct lp_err *err)
{
	FILE *f = file_create(sys, "attachments.csv", err);

	if (!f)
		return err->code;
	fputs("component,priority,set,server,controller,array,lun\n", f);
	for (unsigned a = 0; a < sys->n_arrays; a++) {
		for (unsigned i = 0; i < LUNS * SERVERS; i++) {
			unsigned lun = i / SERVERS, server = server_of(lun, i % SERVERS);
			char name[64];

			attachment_name(name, sizeof(name), a, server, lun);
			fprintf(f, "%s,%u,%s,fs%u,ddn%u%c,ddn%u,%u.%02u\n", name, i % SERVERS + 1,
				lun < OLD_LUNS ? "old" : "new", a * SERVERS + server + 1,
				a + FIRST_ARRAY, controller_of(server), a + FIRST_ARRAY,
				a + FIRST_ARRAY, lun);
		}
	}
	return file_close(f, "attachments.csv", err);
}

/* Are there several servers, all behind one controller? They share it, so it is as good an answer.
 */
static bool share_controller(const struct event *e)
{
	uint8_t behind_b = 0xcc & e->servers;

	return (e->servers & (e->servers - 1)) && (!behind_b || behind_b == e->servers);
}

/* The parts that are right answers, with | between them. */
static void print_parts(FILE *f, const struct event *e)
{
	switch (e->kind) {
	case SERVER_DOWN:
	case SERVER_BAD_STATE:
	case MISSING_ON_SERVERS:
		if (share_controller(e))
			fprintf(f, "controller:ddn%u%c|", e->array + FIRST_ARRAY,
				e->servers & 0xcc ? 'b' : 'a');
		for (unsigned s = 0, n = 0; s < SERVERS; s++) {
			if (e->servers >> s & 1)
				fprintf(f, "%sserver:fs%u", n++ ? "|" : "",
					e->array * SERVERS + s + 1);
		}
		break;
	case DRAWER_ERRORS:
		fprintf(f, "array:%s", e->part);
		break;
	case CONTROLLER_FAILED:
	case LOST_COHERENCY:
		fprintf(f, "controller:%s", e->part);
		break;
	default:
		fprintf(f, "lun:%s", e->part);
	}
}

/* Is the attachment one that the event takes away? */
static bool attachment_lost(const struct event *e, unsigned server, unsigned lun)
{
	return e->servers && e->servers >> server & 1 && e->luns[lun];
}

/* How the event shows on an attachment: "" not at all. Only what clients use, or would use, shows.
 */
static const char *attachment_role(const struct event *e, unsigned server, unsigned lun)
{
	unsigned p = 0;

	if (!e->luns[lun])
		return "";
	if (!e->servers)
		return server == server_of(lun, e->kind == SLOW_LUN_IDLE) ? "slow" : "";
	if (attachment_lost(e, server, lun))
		return "lost";
	while (p < SERVERS && attachment_lost(e, server_of(lun, p), lun))
		p++;
	return p && p < SERVERS && server == server_of(lun, p) ? "instead" : "";
}

static void print_times(FILE *f, const struct intrepid *sys, const struct event *e)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	int64_t start = sys->start_us + e->start_us;

	fprintf(f, ",%s,%s", time_format(start, from), time_format(start + e->duration_us, to));
}

static unsigned count_components(const struct event *e)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LUNS * SERVERS; i++)
		n += attachment_role(e, i % SERVERS, i / SERVERS)[0] != '\0';
	return n;
}

static int write_events(const struct intrepid *sys, struct lp_err *err)
{
	FILE *f = file_create(sys, "events.csv", err);

	if (!f)
		return err->code;
	fputs("event,kind,parts,start,end,diagnosis,latest_s,soonest_s,components\n", f);
	for (size_t i = 0; i < sys->n_events; i++) {
		const struct event *e = &sys->events[i];
		const struct event_def *d = &event_defs[e->kind];

		fprintf(f, "%zu,%s,", i + 1, d->name);
		print_parts(f, e);
		print_times(f, sys, e);
		fprintf(f, ",%s,%.0f,%.0f,%u\n", d->diagnosis, d->latest_h * 3600,
			d->soonest_h * 3600, count_components(e));
	}
	return file_close(f, "events.csv", err);
}

static void print_truth(FILE *f, const struct intrepid *sys, const struct event *e, size_t number)
{
	for (unsigned i = 0; i < LUNS * SERVERS; i++) {
		const char *role = attachment_role(e, i % SERVERS, i / SERVERS);
		char name[64];

		if (!*role)
			continue;
		attachment_name(name, sizeof(name), e->array, i % SERVERS, i / SERVERS);
		fprintf(f, "*,%s,%s,%s%s", name, event_defs[e->kind].name,
			event_defs[e->kind].diagnosis,
			*role == 'i' ? "|disk-hog|disk-busy|imbalanced" : "");
		print_times(f, sys, e);
		fprintf(f, ",%s,%zu,%s\n", e->part, number, role);
	}
}

static int write_truth(const struct intrepid *sys, struct lp_err *err)
{
	FILE *f = file_create(sys, "truth.csv", err);

	if (!f)
		return err->code;
	fputs("verdict,component,cause,diagnosis,start,end,part,event,role\n", f);
	for (size_t i = 0; i < sys->n_events; i++)
		print_truth(f, sys, &sys->events[i], i + 1);
	return file_close(f, "truth.csv", err);
}

int layout_write(const struct intrepid *sys, struct lp_err *err)
{
	int r = write_topology(sys, err);

	if (r == 0)
		r = write_attachments(sys, err);
	if (r == 0)
		r = write_events(sys, err);
	return r < 0 ? r : write_truth(sys, err);
}
