/* The kernel's answers about TCP sockets, through the parser and into a small table. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "collect/tcp_ports.h"
#include "collect/tcp_table.h"
#include <libmnl/libmnl.h>
#include <string.h>

struct target {
	struct tcp_table *table;
	struct tcp_ports listening;
	uint32_t n_given;
};

static void take(void *ctx, const struct tcp_sock *s)
{
	struct target *t = ctx;
	enum tcp_direction direction;
	char name[TCP_NAME_MAX];

	tcp_addr_name(&s->remote, TCP_IN, name);
	if (s->state == 10)
		tcp_ports_add(&t->listening, s->local_port);
	if (!tcp_ports_classify(&t->listening, false, s, &direction))
		return;
	tcp_table_add(t->table, s, direction);
	t->n_given++;
}

static uint64_t any_counter(const struct tcp_table *t)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < t->n_remotes; i++) {
		for (unsigned c = 0; c < TCP_COUNTERS; c++)
			any |= t->remotes[i].counters[c];
	}
	return any;
}

/* The same answer twice: sockets that existed at the first sample and did not grow add nothing. No
 * row counts sockets that were not in the answer. */
static void take_twice(struct target *t, const uint8_t *buf, size_t size, uint32_t seq)
{
	for (int i = 0; i < 2; i++) {
		struct tcp_parse p = {.seq = seq, .sock = take, .ctx = t};
		uint32_t n_counted = 0;

		t->n_given = 0;
		tcp_table_begin(t->table);
		tcp_parse_messages(&p, buf, size);
		tcp_table_end(t->table);
		for (uint32_t m = 0; m < t->table->n_remotes; m++)
			n_counted += t->table->remotes[m].now.sockets;
		if (n_counted > t->n_given || (n_counted == 0) != (t->n_given == 0))
			abort();
		if (any_counter(t->table) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A separate copy, aligned and as long as the answer, so that reading beyond its end is
	 * detected. */
	_cleanup_free_ uint8_t *buf = malloc(size ? size : 1);
	struct target t = {.table = tcp_table_new(2, 4)};
	uint32_t seq = 0;

	if (buf && t.table) {
		memcpy(buf, data, size);
		if (size >= sizeof(struct nlmsghdr))
			seq = ((const struct nlmsghdr *)(const void *)buf)->nlmsg_seq;
		take_twice(&t, buf, size, seq);
	}
	tcp_table_free(t.table);
	return 0;
}
