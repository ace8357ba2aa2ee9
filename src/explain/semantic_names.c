#include "explain/semantic_names.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A descriptor that was looked at only after the call was made is still the one meant. */
#define LATE_NS (5 * NS_PER_SEC)
/* Generations through which descriptors are inherited. */
#define FORKS_MAX 4

/* A descriptor whose name is wanted: what was behind it at that time? */
struct traced_want {
	uint32_t host;
	int32_t pid, fd;
	int64_t at_ns;
	bool inherited; /* the descriptor of a parent, at the time of the birth */
	bool slow;	/* `item` is in t->slow, else in t->failures */
	uint32_t item;
};

bool end_parse(const char *text, char *address, size_t size, uint16_t *ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	unsigned long port;
	char *end;

	if (!len || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return false;
	port = strtoul(colon + 1, &end, 10);
	if (port > UINT16_MAX || len >= size)
		return false;
	if (text[0] == '[' && len > 2 && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	memcpy(address, text, len);
	address[len] = '\0';
	*ret_port = (uint16_t)port;
	return true;
}

bool ends_split(const char *name, char local[END_MAX], char remote[END_MAX])
{
	const char *at;
	size_t n;

	if (!name || strncmp(name, "tcp ", 4) != 0)
		return false;
	at = name + 4;
	n = strcspn(at, " ");
	if (!n || n >= END_MAX)
		return false;
	memcpy(local, at, n);
	local[n] = '\0';
	at += n;
	at += strspn(at, " ");
	n = strcspn(at, " ");
	n = n < END_MAX ? n : 0;
	memcpy(remote, at, n);
	remote[n] = '\0';
	return true;
}

bool address_is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strcmp(address, "::1") ||
		!strncmp(address, "::ffff:127.", 11);
}

static int want_compare(const void *a, const void *b)
{
	const struct traced_want *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

/* Its process has the descriptor, or got it when it was born. */
static void want_add(struct traces *t, uint32_t process, const struct traced_want *from)
{
	struct traced_want w = *from;

	for (unsigned i = 0; i <= FORKS_MAX && process != TRACES_NONE; i++) {
		const struct traced_process *p = &t->processes[process];

		w.host = p->host;
		w.pid = p->pid;
		w.inherited = i > 0;
		t->wants[t->n_wants++] = w;
		w.at_ns = p->born_ns;
		process = p->parent;
	}
}

int traces_want_names(struct traces *t)
{
	free(t->wants);
	t->n_wants = 0;
	t->wants = calloc((t->n_failures + t->n_slow + 1) * (FORKS_MAX + 1), sizeof(*t->wants));
	if (!t->wants)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_failures; i++) {
		const struct traced_failure *f = &t->failures[i];
		struct traced_want w = {.fd = f->fd, .at_ns = f->first_ns, .item = i};

		if (f->fd >= 0 && !f->name)
			want_add(t, f->process, &w);
	}
	for (uint32_t i = 0; i < t->n_slow; i++) {
		const struct traced_slow *s = &t->slow[i];
		struct traced_want w = {.fd = s->fd, .at_ns = s->start_ns, .slow = true, .item = i};

		if (s->fd >= 0 && !s->name)
			want_add(t, s->process, &w);
	}
	qsort(t->wants, t->n_wants, sizeof(*t->wants), want_compare);
	return 0;
}

/* The first want of that descriptor. */
static size_t want_find(const struct traces *t, const struct traced_want *key)
{
	size_t low = 0, high = t->n_wants;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (want_compare(&t->wants[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_gone(const struct trace_descriptor *d)
{
	return d->change == TRACE_FD_CLOSE || d->change == TRACE_FD_EXEC;
}

/* Is this change later than the one by which the name is known, and not too late? */
static bool tells_more(const struct traced_want *w, const struct trace_descriptor *d,
	const char *name, int64_t by_ns)
{
	if (is_gone(d) || !d->name)
		return false;
	if (d->time_ns > w->at_ns)
		return !name && !w->inherited && d->time_ns - w->at_ns <= LATE_NS;
	return !name || by_ns > w->at_ns || d->time_ns >= by_ns;
}

static int want_take(
	struct traces *t, const struct traced_want *w, const struct trace_descriptor *d)
{
	char **name = w->slow ? &t->slow[w->item].name : &t->failures[w->item].name;
	int64_t *by_ns = w->slow ? &t->slow[w->item].name_ns : &t->failures[w->item].name_ns;
	uint8_t *file = w->slow ? &t->slow[w->item].file : &t->failures[w->item].file;
	char *copy;

	if (!tells_more(w, d, *name, *by_ns))
		return 0;
	copy = strdup(d->name);
	if (!copy)
		return -ENOMEM;
	free(*name);
	*name = copy;
	*by_ns = d->time_ns;
	if (*file == TRACE_FILE_NONE)
		*file = d->file;
	return 0;
}

static int port_note(struct traces *t, uint32_t host, uint16_t port, uint32_t program)
{
	for (size_t i = 0; i < t->n_ports; i++) {
		if (t->ports[i].host == host && t->ports[i].port == port)
			return 0;
	}
	if (array_reserve(&t->ports, &t->cap_ports, t->n_ports + 1, sizeof(*t->ports)) < 0)
		return -ENOMEM;
	t->ports[t->n_ports++] = (struct traced_port){host, program, port};
	return 0;
}

/* Do others connect to that port of the host? */
static bool is_served(const struct traces *t, uint32_t host, uint16_t port)
{
	for (size_t i = 0; i < t->n_peers; i++) {
		if (t->peers[i].server == host && t->peers[i].port == port)
			return true;
	}
	return false;
}

/* A connection that was accepted, one to a port that others connect to, or a socket that listens
 * there: its process serves. Who listens where nobody was seen to connect to may serve. */
static int port_take(struct traces *t, uint32_t host, const struct trace_descriptor *d)
{
	char local[END_MAX], remote[END_MAX], address[END_MAX];
	struct traced_program *program;
	bool serves, listens;
	uint32_t process;
	uint16_t port;

	if (d->file != TRACE_FILE_TCP || is_gone(d) || !ends_split(d->name, local, remote) ||
		!end_parse(local, address, sizeof(address), &port))
		return 0;
	serves = d->change == TRACE_FD_ACCEPT || is_served(t, host, port);
	listens = !*remote && port && (d->change == TRACE_FD_SEEN || d->change == TRACE_FD_BEFORE);
	if (!serves && !listens)
		return 0;
	if (traces_process(t, host, d->pid, &process) < 0)
		return -ENOMEM;
	program = &t->programs[t->processes[process].program];
	program->serves = program->serves || serves;
	program->listens = program->listens || listens;
	return port_note(t, host, port, t->processes[process].program);
}

int traces_add_descriptor(struct traces *t, uint32_t host, const struct trace_descriptor *d)
{
	struct traced_want key = {.host = host, .pid = d->pid, .fd = d->fd};
	int r = port_take(t, host, d);

	for (size_t i = want_find(t, &key);
		r == 0 && i < t->n_wants && want_compare(&t->wants[i], &key) == 0; i++)
		r = want_take(t, &t->wants[i], d);
	return r;
}

/* The host that has an address, which may be new: one without an archive. */
static int host_of_address(struct traces *t, const struct hosts *hosts, uint32_t from,
	const char *address, uint32_t *ret)
{
	const char *observer = hosts_find(hosts, address);

	if (!observer && address_is_loopback(address)) {
		*ret = from;
		return 0;
	}
	return traces_host(t, observer ? observer : address, ret);
}

int traces_know_servers(struct traces *t, const struct hosts *hosts)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n_peers; i++)
		r = host_of_address(
			t, hosts, t->peers[i].host, t->peers[i].address, &t->peers[i].server);
	return r;
}

int traces_know_missing(struct traces *t, const struct hosts *hosts)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n_failures; i++) {
		const struct traced_failure *f = &t->failures[i];
		char local[END_MAX], remote[END_MAX];
		uint32_t peer;

		if (f->error != ECONNREFUSED || f->file != TRACE_FILE_TCP ||
			!ends_split(f->name, local, remote) || !*remote)
			continue;
		r = traces_peer(t, t->processes[f->process].host, remote, &peer);
		if (r == 0)
			r = host_of_address(t, hosts, t->peers[peer].host, t->peers[peer].address,
				&t->peers[peer].server);
	}
	return r;
}

/* Do others have connections to it? */
static bool is_sought(const struct traces *t, uint32_t host)
{
	for (size_t i = 0; i < t->n_peers; i++) {
		if (t->peers[i].server == host && t->peers[i].host != host)
			return true;
	}
	return false;
}

void traces_guess_servers(struct traces *t)
{
	for (uint32_t host = 0; host < t->n_hosts; host++) {
		size_t n = 0, n_talk = 0, n_listen = 0, n_serve = 0;

		for (size_t i = 0; i < t->n_programs; i++) {
			const struct traced_program *p = &t->programs[i];

			n += p->host == host;
			n_talk += p->host == host && p->talks;
			n_listen += p->host == host && p->listens;
			n_serve += p->host == host && p->serves;
		}
		if (n_serve || (!n_listen && !n_talk && n != 1) || !is_sought(t, host))
			continue;
		for (size_t i = 0; i < t->n_programs; i++) {
			struct traced_program *p = &t->programs[i];

			if (p->host == host && (n_listen ? p->listens : p->talks || !n_talk))
				p->serves = true;
		}
	}
}

uint32_t traces_server(const struct traces *t, uint32_t host, uint16_t port)
{
	uint32_t found = TRACES_NONE;

	for (size_t i = 0; i < t->n_ports; i++) {
		if (t->ports[i].host == host && t->ports[i].port == port)
			return t->ports[i].program;
	}
	for (uint32_t i = 0; i < t->n_programs; i++) {
		if (t->programs[i].host != host || !t->programs[i].serves)
			continue;
		if (found != TRACES_NONE)
			return TRACES_NONE; /* which of them? */
		found = i;
	}
	return found;
}

bool traces_linked(const struct traces *t, uint32_t client, uint32_t server, bool *ret_sure)
{
	bool any = false;

	for (size_t i = 0; i < t->n_peers; i++) {
		if (t->peers[i].host != client)
			continue;
		any = any || t->peers[i].server != client;
		if (t->peers[i].server == server) {
			*ret_sure = true;
			return true;
		}
	}
	*ret_sure = false;
	return !any && client != server;
}
