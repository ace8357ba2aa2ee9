#include "explain/semantic_names.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A descriptor that was examined at most this long after the call is still the right one. */
#define LATE_NS (5 * NS_PER_SEC)
/* At most this many ports without a server are kept. */
#define PORTS_MAX 100000

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

static bool is_gone(const struct trace_descriptor *d)
{
	return d->change == TRACE_FD_CLOSE || d->change == TRACE_FD_EXEC;
}

/* The port of a socket of the process, added if it is new. `*ret` is NULL if there are too many.
 */
static int port_find(
	struct traces *t, uint32_t host, uint16_t port, uint32_t process, struct traced_port **ret)
{
	char key[TRACES_KEY_MAX];
	uint32_t number;

	snprintf(key, sizeof(key), "%u %u %u", host, port, process);
	*ret = NULL;
	if (strmap_get(&t->by_port, key, &number)) {
		*ret = &t->ports[number];
		return 0;
	}
	if (t->n_ports >= PORTS_MAX)
		return 0;
	if (TRACES_ROOM(t, ports, n_ports, cap_ports) < 0 ||
		strmap_put(&t->by_port, key, (uint32_t)t->n_ports) < 0)
		return -ENOMEM;
	*ret = &t->ports[t->n_ports++];
	**ret = (struct traced_port){
		.host = host, .process = process, .program = TRACES_NONE, .port = port};
	return 0;
}

/* Note a socket. A process with an accepted connection or a listening socket serves. A process with
 * any other port serves if others connect to it later. */
static int port_take(
	struct traces *t, uint32_t host, uint32_t process, const struct trace_descriptor *d)
{
	char local[END_MAX], remote[END_MAX], address[END_MAX];
	struct traced_process *p = &t->processes[process];
	struct traced_port *found;
	uint16_t port;
	int r;

	if (d->file != TRACE_FILE_TCP || is_gone(d) || !ends_split(d->name, local, remote) ||
		!end_parse(local, address, sizeof(address), &port) || !port)
		return 0;
	r = port_find(t, host, port, process, &found);
	if (r < 0 || !found)
		return r;
	found->accepted = found->accepted || d->change == TRACE_FD_ACCEPT;
	found->listens = found->listens ||
		(!*remote && (d->change == TRACE_FD_SEEN || d->change == TRACE_FD_BEFORE));
	found->last_ns = d->time_ns;
	p->seen.serves = p->seen.serves || found->accepted;
	p->seen.listens = p->seen.listens || found->listens;
	return 0;
}

/* A server that clients cannot reach is a peer, too. */
static int note_missing(struct traces *t, const struct traced_failure *f)
{
	char local[END_MAX], remote[END_MAX];
	uint32_t peer;

	if (f->error != ECONNREFUSED || f->file != TRACE_FILE_TCP ||
		!ends_split(f->name, local, remote) || !*remote)
		return 0;
	if (traces_peer(t, t->processes[f->process].host, remote, &peer) < 0)
		return -ENOMEM;
	if (f->last_ns / 1000 > t->peers[peer].last_us)
		t->peers[peer].last_us = f->last_ns / 1000;
	return 0;
}

/* Use the name of the descriptor, if it is known and the call has none. */
static int name_take(const struct traced_process *p, int32_t fd, char **name, uint8_t *file)
{
	const struct traced_file *known = fd >= 0 && !*name ? file_table_find(p->files, fd) : NULL;

	if (!known)
		return 0;
	*name = strdup(known->name);
	if (*file == TRACE_FILE_NONE)
		*file = known->file;
	return *name ? 0 : -ENOMEM;
}

int traces_name_failure(struct traces *t, struct traced_failure *f)
{
	struct traced_process *p = &t->processes[f->process];
	int r = name_take(p, f->fd, &f->name, &f->file);

	if (r == 0 && f->fd >= 0 && !f->name)
		p->unnamed_ns = f->first_ns;
	return r < 0 ? r : note_missing(t, f);
}

int traces_name_slow(struct traces *t, struct traced_slow *s)
{
	return name_take(&t->processes[s->process], s->fd, &s->name, &s->file);
}

/* Use a descriptor that was examined after the call. */
static int name_late(struct traces *t, uint32_t process, const struct trace_descriptor *d)
{
	int64_t since_ns = d->time_ns - LATE_NS;
	int r = 0;

	for (size_t i = t->n_failures; r == 0 && i-- > 0 && t->failures[i].first_ns >= since_ns;) {
		struct traced_failure *f = &t->failures[i];

		if (f->process == process && f->fd == d->fd && !f->name)
			r = traces_name_failure(t, f);
	}
	return r;
}

static int name_late_slow(struct traces *t, uint32_t process, int32_t fd)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n_slow; i++) {
		if (t->slow[i].process == process && t->slow[i].fd == fd && !t->slow[i].name)
			r = traces_name_slow(t, &t->slow[i]);
	}
	return r;
}

int traces_add_descriptor(struct traces *t, uint32_t host, const struct trace_descriptor *d)
{
	struct traced_process *p;
	uint32_t process, parent;
	int r = traces_process_at(t, host, d->pid, d->time_ns, &process);

	t->hosts[host].traced = true;
	traces_see_host(t, host, d->time_ns / 1000);
	traces_extend(t, d->time_ns);
	if (r < 0)
		return r;
	p = &t->processes[process];
	if (d->change == TRACE_FD_FORK) {
		if (traces_process(t, host, d->from, &parent) < 0)
			return -ENOMEM;
		p = &t->processes[process];
		p->files = p->files ? p->files : file_table_share(t->processes[parent].files);
		return 0;
	}
	if (is_gone(d))
		return file_table_close(&p->files, d->fd, d->time_ns);
	if (d->fd < 0 || !d->name)
		return 0;
	r = file_table_set(&p->files, d->fd, d->file, d->name);
	if (r == 0)
		r = port_take(t, host, process, d);
	if (r == 0 && p->unnamed_ns >= d->time_ns - LATE_NS)
		r = name_late(t, process, d);
	return r < 0 ? r : name_late_slow(t, process, d->fd);
}

static bool has_port(const struct traces *t, uint32_t host, uint16_t port)
{
	for (size_t i = 0; i < t->n_ports; i++) {
		if (t->ports[i].host == host && t->ports[i].port == port)
			return true;
	}
	return false;
}

/* Several observers may be on one machine. Find the only one of them that has the port;
 * TRACES_NONE: none, or more than one. */
static uint32_t find_neighbour(
	const struct traces *t, uint32_t from, const char *address, uint16_t port)
{
	bool loopback = address_is_loopback(address);
	uint32_t found = TRACES_NONE;

	for (uint32_t host = 0; host < t->n_hosts; host++) {
		const char *name = t->hosts[host].name;

		if (!(loopback ? hosts_share_loopback(t->addresses, t->hosts[from].name, name)
			       : hosts_has(t->addresses, name, address)) ||
			!has_port(t, host, port))
			continue;
		if (found != TRACES_NONE)
			return TRACES_NONE;
		found = host;
	}
	return found;
}

/* Must the address be looked up again later, because it does not identify the host? */
static bool is_ambiguous(const struct traces *t, const char *address)
{
	return address_is_loopback(address) || hosts_is_shared(t->addresses, address);
}

/* The host with an address; added without an archive if it is new. */
static int host_of_address(
	struct traces *t, uint32_t from, const char *address, uint16_t port, uint32_t *ret)
{
	const char *observer = hosts_find(t->addresses, address);
	uint32_t neighbour = TRACES_NONE;

	if (!observer && is_ambiguous(t, address))
		neighbour = find_neighbour(t, from, address, port);
	if (neighbour == TRACES_NONE && !observer && address_is_loopback(address))
		neighbour = from;
	if (neighbour != TRACES_NONE) {
		*ret = neighbour;
		return 0;
	}
	return traces_host(t, observer ? observer : address, ret);
}

int traces_know_address(struct traces *t, struct traced_peer *p)
{
	/* Adding a host moves only hosts in memory. */
	p->asked = t->addresses ? t->addresses->n : 0;
	return host_of_address(t, p->host, p->address, p->port, &p->server);
}

uint32_t traces_port_program(const struct traces *t, const struct traced_port *p)
{
	return p->process == TRACES_NONE ? p->program : t->processes[p->process].program;
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

static void guess_servers(struct traces *t, uint32_t host)
{
	size_t n = 0, n_talk = 0, n_listen = 0, n_serve = 0;

	for (size_t i = 0; i < t->n_programs; i++) {
		const struct traced_program *p = &t->programs[i];

		n += p->host == host && p->known;
		n_talk += p->host == host && p->is.talks;
		n_listen += p->host == host && p->is.listens;
		n_serve += p->host == host && p->serves;
	}
	if (n_serve || (!n_listen && !n_talk && n != 1) || !is_sought(t, host))
		return;
	for (size_t i = 0; i < t->n_programs; i++) {
		struct traced_program *p = &t->programs[i];

		if (p->host == host && p->known &&
			(n_listen ? p->is.listens : p->is.talks || !n_talk))
			p->serves = true;
	}
}

/* Programs with ports that others connect to are servers. */
static int know_ports(struct traces *t)
{
	_cleanup_(strmap_release) struct strmap sought = {0};
	char key[TRACES_KEY_MAX];
	uint32_t ignored;

	for (size_t i = 0; i < t->n_peers; i++) {
		snprintf(key, sizeof(key), "%u %u", t->peers[i].server, t->peers[i].port);
		if (strmap_put(&sought, key, 0) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < t->n_ports; i++) {
		struct traced_port *p = &t->ports[i];

		snprintf(key, sizeof(key), "%u %u", p->host, p->port);
		p->served = strmap_get(&sought, key, &ignored);
		if (p->served || p->accepted)
			t->programs[traces_port_program(t, p)].serves = true;
	}
	return 0;
}

static void know_programs(struct traces *t)
{
	for (size_t i = 0; i < t->n_programs; i++) {
		struct traced_program *p = &t->programs[i];

		p->is = p->seen;
		p->known = p->row_us || p->ended;
	}
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct traced_process *process = &t->processes[i];
		struct traced_program *p = &t->programs[process->program];

		p->known = true;
		p->is.serves = p->is.serves || process->seen.serves;
		p->is.listens = p->is.listens || process->seen.listens;
		p->is.talks = p->is.talks || process->seen.talks;
	}
	for (size_t i = 0; i < t->n_programs; i++)
		t->programs[i].serves = t->programs[i].is.serves;
}

int traces_know(struct traces *t)
{
	uint32_t n_addresses = t->addresses ? t->addresses->n : 0;
	int r = 0;

	/* The addresses, or ports, of an observer may have become known since. */
	for (size_t i = 0; r == 0 && i < t->n_peers; i++) {
		if (t->peers[i].asked != n_addresses || is_ambiguous(t, t->peers[i].address))
			r = traces_know_address(t, &t->peers[i]);
	}
	know_programs(t);
	if (r == 0)
		r = know_ports(t);
	for (uint32_t host = 0; r == 0 && host < t->n_hosts; host++)
		guess_servers(t, host);
	return r;
}

uint32_t traces_server(const struct traces *t, uint32_t host, uint16_t port)
{
	uint32_t found = TRACES_NONE;

	for (size_t i = 0; i < t->n_ports; i++) {
		const struct traced_port *p = &t->ports[i];

		if (p->host == host && p->port == port && (p->accepted || p->listens || p->served))
			return traces_port_program(t, p);
	}
	for (uint32_t i = 0; i < t->n_programs; i++) {
		if (t->programs[i].host != host || !t->programs[i].serves)
			continue;
		if (found != TRACES_NONE)
			return TRACES_NONE; /* it is not clear which one */
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
