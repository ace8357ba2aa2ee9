/* Frees old state: traces cover only the recent past. */
#include "explain/semantic_traces.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The new indexes after a removal; TRACES_NONE: removed. */
struct moves {
	uint32_t *hosts, *programs, *processes;
};

static void moves_release(struct moves *m)
{
	free(m->hosts);
	free(m->programs);
	free(m->processes);
}

/* Initially all are removed; marks keep some. */
static int moves_init(struct moves *m, const struct traces *t)
{
	m->hosts = calloc(t->n_hosts + 1, sizeof(*m->hosts));
	m->programs = calloc(t->n_programs + 1, sizeof(*m->programs));
	m->processes = calloc(t->n_processes + 1, sizeof(*m->processes));
	return m->hosts && m->programs && m->processes ? 0 : -ENOMEM;
}

/* Turn marks into new indexes. */
static void moves_number(uint32_t *moves, size_t n)
{
	uint32_t next = 0;

	for (size_t i = 0; i < n; i++)
		moves[i] = moves[i] ? next++ : TRACES_NONE;
}

static void drop_failures(struct traces *t, int64_t before_ns)
{
	size_t n = 0;

	while (n < t->n_failures && t->failures[n].last_ns < before_ns)
		free(t->failures[n++].name);
	if (!n)
		return;
	t->n_failures -= n;
	memmove(t->failures, t->failures + n, t->n_failures * sizeof(*t->failures));
	for (size_t i = 0; i < t->n_processes; i++) {
		uint32_t *recent = t->processes[i].recent;

		for (size_t k = 0; k < ARRAY_SIZE(t->processes[i].recent); k++) {
			if (recent[k] != TRACES_NONE)
				recent[k] = recent[k] < n ? TRACES_NONE : recent[k] - (uint32_t)n;
		}
	}
}

/* A call that has not returned may still do so while its process lives. */
static void drop_slow(struct traces *t, int64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_slow; i++) {
		struct traced_slow *s = &t->slow[i];

		if (s->start_ns + s->dur_ns < before_ns &&
			(!s->pending || t->processes[s->process].died_ns))
			free(s->name);
		else
			t->slow[n++] = *s;
	}
	t->n_slow = n;
}

static size_t drop_spans(struct traced_span *spans, size_t n_spans, int64_t before_us)
{
	size_t n = 0;

	for (size_t i = 0; i < n_spans; i++) {
		if (spans[i].to_us >= before_us)
			spans[n++] = spans[i];
	}
	return n;
}

static void drop_peers(struct traces *t, int64_t before_us)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_peers; i++) {
		struct traced_peer *p = &t->peers[i];

		if (p->last_us < before_us) {
			free(p->name);
			free(p->address);
			free(p->silences);
			free(p->answers);
			continue;
		}
		p->n_silences = drop_spans(p->silences, p->n_silences, before_us);
		p->n_answers = drop_spans(p->answers, p->n_answers, before_us);
		t->peers[n++] = *p;
	}
	t->n_peers = n;
}

static void drop_tallies(struct traces *t, int64_t before_us)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_tallies; i++) {
		if (t->tallies[i].row_us >= before_us)
			t->tallies[n++] = t->tallies[i];
	}
	t->n_tallies = n;
}

/* Mark processes to keep: not those that have ended, and not those on hosts without activity. */
static void mark_processes(struct traces *t, struct moves *m, int64_t before_ns)
{
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct traced_process *p = &t->processes[i];

		m->processes[i] = p->died_ns ? p->died_ns >= before_ns
					     : t->hosts[p->host].last_us >= before_ns / 1000;
	}
	for (size_t i = 0; i < t->n_failures; i++)
		m->processes[t->failures[i].process] = 1;
	for (size_t i = 0; i < t->n_slow; i++)
		m->processes[t->slow[i].process] = 1;
	for (size_t i = 0; i < t->n_pairs; i++)
		m->processes[t->pair_list[i].process] = 1;
}

/* The program takes over the activity of its removed processes. */
static void bequeath(struct traces *t, const struct moves *m)
{
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct traced_process *p = &t->processes[i];
		struct traced_program *program = &t->programs[p->program];

		if (m->processes[i])
			continue;
		program->seen.serves = program->seen.serves || p->seen.serves;
		program->seen.listens = program->seen.listens || p->seen.listens;
		program->seen.talks = program->seen.talks || p->seen.talks;
		program->ended = program->ended || p->died_ns || p->asked;
	}
	for (size_t i = 0; i < t->n_ports; i++) {
		struct traced_port *p = &t->ports[i];

		if (p->process != TRACES_NONE && !m->processes[p->process]) {
			p->program = t->processes[p->process].program;
			p->process = TRACES_NONE;
		}
	}
}

/* Do others still have connections to the host? */
static bool is_sought(const struct traces *t, uint32_t host)
{
	for (size_t i = 0; i < t->n_peers; i++) {
		if (t->peers[i].server == host)
			return true;
	}
	return false;
}

/* Keep servers as long as their host stays, and as long as others have connections to it: limpet
 * must know whether a server crashed or ended normally. */
static void mark_programs(const struct traces *t, struct moves *m, int64_t before_us)
{
	for (size_t i = 0; i < t->n_programs; i++) {
		const struct traced_program *p = &t->programs[i];

		m->programs[i] = p->row_us >= before_us ||
			(p->serves &&
				(t->hosts[p->host].last_us >= before_us || is_sought(t, p->host)));
	}
	for (size_t i = 0; i < t->n_processes; i++) {
		if (m->processes[i])
			m->programs[t->processes[i].program] = 1;
	}
	for (size_t i = 0; i < t->n_tallies; i++)
		m->programs[t->tallies[i].program] = 1;
}

static void mark_hosts(const struct traces *t, struct moves *m, int64_t before_us)
{
	for (size_t i = 0; i < t->n_hosts; i++)
		m->hosts[i] = t->hosts[i].last_us >= before_us;
	for (size_t i = 0; i < t->n_programs; i++) {
		if (m->programs[i])
			m->hosts[t->programs[i].host] = 1;
	}
	for (size_t i = 0; i < t->n_peers; i++)
		m->hosts[t->peers[i].host] = m->hosts[t->peers[i].server] = 1;
}

static void move_processes(struct traces *t, const struct moves *m, int64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_processes; i++) {
		struct traced_process *p = &t->processes[i];

		if (m->processes[i] == TRACES_NONE) {
			file_table_free(p->files);
			continue;
		}
		file_table_forget(p->files, before_ns);
		p->host = m->hosts[p->host];
		p->program = m->programs[p->program];
		p->parent = p->parent == TRACES_NONE ? TRACES_NONE : m->processes[p->parent];
		t->processes[n++] = *p;
	}
	t->n_processes = n;
	for (size_t i = 0; i < t->n_failures; i++)
		t->failures[i].process = m->processes[t->failures[i].process];
	for (size_t i = 0; i < t->n_slow; i++)
		t->slow[i].process = m->processes[t->slow[i].process];
	for (size_t i = 0; i < t->n_pairs; i++)
		t->pair_list[i].process = m->processes[t->pair_list[i].process];
}

static void move_ports(struct traces *t, const struct moves *m, int64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_ports; i++) {
		struct traced_port p = t->ports[i];
		uint32_t program = traces_port_program(t, &p);

		if (m->programs[program] == TRACES_NONE ||
			(!p.accepted && !p.listens && p.last_ns < before_ns))
			continue;
		p.host = m->hosts[p.host];
		p.program = m->programs[program];
		p.process = p.process == TRACES_NONE ? TRACES_NONE : m->processes[p.process];
		t->ports[n++] = p;
	}
	t->n_ports = n;
}

static void move_programs(struct traces *t, const struct moves *m)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_programs; i++) {
		struct traced_program *p = &t->programs[i];

		if (m->programs[i] == TRACES_NONE) {
			free(p->comm);
			continue;
		}
		p->host = m->hosts[p->host];
		t->programs[n++] = *p;
	}
	t->n_programs = n;
	for (size_t i = 0; i < t->n_tallies; i++)
		t->tallies[i].program = m->programs[t->tallies[i].program];
}

static void move_hosts(struct traces *t, const struct moves *m)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_hosts; i++) {
		if (m->hosts[i] == TRACES_NONE)
			free(t->hosts[i].name);
		else
			t->hosts[n++] = t->hosts[i];
	}
	t->n_hosts = n;
	for (size_t i = 0; i < t->n_peers; i++) {
		t->peers[i].host = m->hosts[t->peers[i].host];
		t->peers[i].server = m->hosts[t->peers[i].server];
	}
}

/* Rebuild the keys, which contain changed indexes. If several processes had the same pid, the last
 * one keeps it. */
static int keys_anew(struct traces *t)
{
	struct strmap *maps[] = {&t->by_host, &t->by_program, &t->by_process, &t->by_peer,
		&t->by_tally, &t->by_port};
	char key[TRACES_KEY_MAX];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		strmap_release(maps[i]);
	for (uint32_t i = 0; r == 0 && i < t->n_hosts; i++)
		r = strmap_put(&t->by_host, t->hosts[i].name, i);
	for (uint32_t i = 0; r == 0 && i < t->n_programs; i++) {
		snprintf(key, sizeof(key), "%u %s", t->programs[i].host, t->programs[i].comm);
		r = strmap_put(&t->by_program, key, i);
	}
	for (uint32_t i = 0; r == 0 && i < t->n_processes; i++) {
		snprintf(key, sizeof(key), "%u %d", t->processes[i].host, t->processes[i].pid);
		r = strmap_put(&t->by_process, key, i);
	}
	for (uint32_t i = 0; r == 0 && i < t->n_peers; i++) {
		snprintf(key, sizeof(key), "%u %s", t->peers[i].host, t->peers[i].name);
		r = strmap_put(&t->by_peer, key, i);
	}
	for (uint32_t i = 0; r == 0 && i < t->n_tallies; i++) {
		traces_tally_key(t, &t->tallies[i], key);
		r = strmap_put(&t->by_tally, key, i);
	}
	for (uint32_t i = 0; r == 0 && i < t->n_ports; i++) {
		snprintf(key, sizeof(key), "%u %u %u", t->ports[i].host, t->ports[i].port,
			t->ports[i].process);
		r = strmap_put(&t->by_port, key, i);
	}
	return r;
}

int traces_forget(struct traces *t, int64_t before_ns)
{
	_cleanup_(moves_release) struct moves m = {0};
	int64_t before_us = before_ns / 1000;

	if (moves_init(&m, t) < 0)
		return -ENOMEM;
	drop_failures(t, before_ns);
	drop_slow(t, before_ns);
	t->overflow = false;
	drop_peers(t, before_us);
	drop_tallies(t, before_us);
	mark_processes(t, &m, before_ns);
	bequeath(t, &m);
	mark_programs(t, &m, before_us);
	mark_hosts(t, &m, before_us);
	moves_number(m.hosts, t->n_hosts);
	moves_number(m.programs, t->n_programs);
	moves_number(m.processes, t->n_processes);
	move_ports(t, &m, before_ns); /* while processes still have their old indexes */
	move_processes(t, &m, before_ns);
	move_programs(t, &m);
	move_hosts(t, &m);
	return keys_anew(t);
}
