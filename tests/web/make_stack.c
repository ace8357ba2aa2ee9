/* Writes pages of `limpet stack show --html` for stack.mjs: `make_stack DIR`. 4 ranks write
 * together to 3 servers, 18 times; in call 12 the disk of s3 is slow. In local.html there are no
 * servers. */
#include "trace/stack/stack_report.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1700000000000000000)
#define MS INT64_C(1000000)

enum { RANKS = 4, CALLS = 18, SERVERS = 3, SLOW_CALL = 12 };

static struct spans spans;
static struct graph graph;
static struct {
	uint64_t parent, child;
} edges[4096];
static size_t n_edges;
static uint64_t next_id;

static const char *const hosts[RANKS + SERVERS] = {
	"c1", "c2", "c1", "<img src=x onerror=alert(1)>", "s1", "s2", "s3"};

static uint64_t add(uint64_t parent, int host, const char *layer, const char *function,
	int64_t from, int64_t to, int64_t bytes)
{
	uint64_t id = ++next_id;
	struct span s = {.id = id,
		.start_ns = T0 + from,
		.end_ns = T0 + to,
		.pid = 100 + host,
		.tid = (int32_t)id,
		.rank = host < RANKS ? host : SPAN_NO_RANK,
		.op = SPAN_WRITE,
		.flags = strcmp(layer, "mpi-io") ? 0 : SPAN_COLLECTIVE,
		.offset = (int64_t)id * 4096,
		.size = bytes,
		.result = bytes,
		.layer = layer,
		.function = function,
		.object = !strcmp(layer, "block") ? "vdb" : "/mnt/flash_hdf5_chk_0000"};

	if (spans_add(&spans, hosts[host], &s) < 0)
		exit(3);
	if (parent) {
		edges[n_edges].parent = parent;
		edges[n_edges++].child = next_id;
	}
	return next_id;
}

/* What one rank's call becomes on the servers. */
static void on_servers(uint64_t call, int rank, int64_t at, int number)
{
	for (int s = 0; s < SERVERS; s++) {
		int64_t slow = s == 2 && number == SLOW_CALL ? 900 * MS : 0;
		int64_t from = at + (5 + rank) * MS, to = from + (20 + 3 * s + rank) * MS + slow;
		uint64_t net = add(call, rank, "network", "WRITE", from, to, 65536);
		uint64_t daemon = add(net, RANKS + s, "server", "WRITE", from + MS, to - MS, 65536);

		for (int k = 0; k < 2; k++)
			add(daemon, RANKS + s, "block", "write",
				from + 2 * MS + k * (to - from - 4 * MS) / 2,
				from + 2 * MS + (k + 1) * (to - from - 4 * MS) / 2, 32768);
	}
}

static uint32_t place(uint64_t id)
{
	for (uint32_t i = 0; i < spans.n; i++) {
		if (spans.items[i].id == id)
			return i;
	}
	exit(3);
}

static void fill(bool servers)
{
	next_id = 0;
	n_edges = 0;
	for (int number = 0; number < CALLS; number++) {
		for (int rank = 0; rank < RANKS; rank++) {
			int64_t at = (int64_t)number * 2000 * MS + rank * MS;
			int64_t ns = (60 + 4 * number) * MS +
				(servers && number == SLOW_CALL ? 900 * MS : 0);
			uint64_t call = add(0, rank, "pnetcdf", "ncmpi_put_vara_double_all", at,
				at + ns, 196608);

			call = add(call, rank, "mpi-io", "MPI_File_write_at_all", at + MS,
				at + ns - MS, 196608);
			call = add(call, rank, "posix", "pwrite", at + 3 * MS, at + ns - 2 * MS,
				196608);
			if (servers)
				on_servers(call, rank, at, number);
		}
	}
}

static void page_write(const char *dir, const char *name, bool servers)
{
	static const struct drive drive = {.name = (char *)"disk",
		.title = (char *)"A disk of 7200/min",
		.active_w = 8,
		.idle_w = 5,
		.seek_w = 9,
		.seek_ms = 8};
	struct stack_metrics m = {0};
	struct lp_err err = {0};
	char path[4096];
	FILE *out;

	fill(servers);
	if (spans_sort(&spans) < 0 || graph_open(&graph, &spans) < 0)
		exit(3);
	for (size_t i = 0; i < n_edges; i++) {
		if (graph_add(&graph, place(edges[i].parent), place(edges[i].child), 0) < 0)
			exit(3);
	}
	if (graph_close(&graph) < 0 || stack_metrics_compute(&graph, -1, &drive, &m, &err) < 0)
		exit(3);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "we");
	if (!out || stack_html_print(out, &m) < 0 || fclose(out) != 0)
		exit(3);
	stack_metrics_release(&m);
	graph_release(&graph);
	spans_release(&spans);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	page_write(argv[1], "stack.html", true);
	page_write(argv[1], "local.html", false);
	return 0;
}
