#include "collect/tcp_watch.h"

#include <string.h>

bool tcp_watch_parse(const char *text, uint64_t *ret)
{
	const char *p = text;

	do {
		if (strncmp(p, "TCP", 3))
			continue;
		p = strstr(p, "inuse");
		if (!p)
			return false;
		p += strlen("inuse");
		return scan_u64(&p, ret);
	} while (scan_line(&p));
	return false;
}

void tcp_watch_open(struct tcp_watch *w)
{
	struct lp_err ignored;

	*w = (struct tcp_watch){.root = {.dir = ""}};
	procfile_open(&w->stat, &w->root, "/proc/net/sockstat", &ignored);
	procfile_open(&w->stat6, &w->root, "/proc/net/sockstat6", &ignored);
}

void tcp_watch_close(struct tcp_watch *w)
{
	procfile_close(&w->stat);
	procfile_close(&w->stat6);
}

/* The current number of TCP sockets. */
static bool count_in_use(struct tcp_watch *w, uint64_t *ret)
{
	struct lp_err ignored;
	uint64_t v4, v6 = 0;

	if (w->stat.fd < 0 || procfile_read(&w->stat, &ignored) < 0 ||
		!tcp_watch_parse(w->stat.text, &v4))
		return false;
	if (w->stat6.fd >= 0 && procfile_read(&w->stat6, &ignored) == 0)
		tcp_watch_parse(w->stat6.text, &v6);
	*ret = v4 + v6;
	return true;
}

bool tcp_watch_steady(struct tcp_watch *w)
{
	uint64_t in_use;
	bool steady;

	if (!count_in_use(w, &in_use))
		return false;
	steady = w->dumped && !w->overflow && in_use == w->in_use &&
		++w->since_dump < TCP_WATCH_SAMPLES;
	/* Counted before a dump, so that a socket that appears in between is noticed next time. */
	w->in_use = in_use;
	return steady;
}

void tcp_watch_begin(struct tcp_watch *w)
{
	w->n = 0;
	w->overflow = false;
	w->dumped = true;
	w->since_dump = 0;
}

void tcp_watch_add(struct tcp_watch *w, const struct tcp_sock *s)
{
	if (w->n < TCP_WATCH_MAX)
		w->socks[w->n++] = *s;
	else
		w->overflow = true;
}
