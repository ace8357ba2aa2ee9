#include "explain/semantic_traces.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERS_APART_US INT64_C(2000000)
/* A client that waits for less is being served, even if slowly. */
#define SILENCE_US INT64_C(1000000)

static void names_free(struct traces *t)
{
	for (size_t i = 0; i < t->n_hosts; i++)
		free(t->hosts[i].name);
	for (size_t i = 0; i < t->n_programs; i++)
		free(t->programs[i].comm);
	for (size_t i = 0; i < t->n_processes; i++)
		file_table_free(t->processes[i].files);
	for (size_t i = 0; i < t->n_failures; i++)
		free(t->failures[i].name);
	for (size_t i = 0; i < t->n_slow; i++)
		free(t->slow[i].name);
	for (size_t i = 0; i < t->n_peers; i++) {
		free(t->peers[i].name);
		free(t->peers[i].address);
		free(t->peers[i].silences);
		free(t->peers[i].answers);
	}
}

void traces_release(struct traces *t)
{
	names_free(t);
	free(t->hosts);
	free(t->programs);
	free(t->processes);
	free(t->failures);
	free(t->slow);
	free(t->peers);
	free(t->ports);
	free(t->tallies);
	free(t->pair_list);
	strmap_release(&t->by_host);
	strmap_release(&t->by_program);
	strmap_release(&t->by_process);
	strmap_release(&t->by_peer);
	strmap_release(&t->by_tally);
	strmap_release(&t->by_port);
	strmap_release(&t->pairs);
	*t = (struct traces){0};
}

int traces_host(struct traces *t, const char *name, uint32_t *ret)
{
	char *copy;

	if (strmap_get(&t->by_host, name, ret))
		return 0;
	copy = strdup(name);
	if (!copy || TRACES_ROOM(t, hosts, n_hosts, cap_hosts) < 0 ||
		strmap_put(&t->by_host, name, (uint32_t)t->n_hosts) < 0) {
		free(copy);
		return -ENOMEM;
	}
	t->hosts[t->n_hosts] = (struct traced_host){.name = copy};
	*ret = (uint32_t)t->n_hosts++;
	return 0;
}

int traces_program(struct traces *t, uint32_t host, const char *comm, uint32_t *ret)
{
	char key[TRACES_KEY_MAX], *copy;

	snprintf(key, sizeof(key), "%u %s", host, comm);
	if (strmap_get(&t->by_program, key, ret))
		return 0;
	copy = strdup(comm);
	if (!copy || TRACES_ROOM(t, programs, n_programs, cap_programs) < 0 ||
		strmap_put(&t->by_program, key, (uint32_t)t->n_programs) < 0) {
		free(copy);
		return -ENOMEM;
	}
	t->programs[t->n_programs] = (struct traced_program){.host = host, .comm = copy};
	*ret = (uint32_t)t->n_programs++;
	return 0;
}

static void process_key(char key[TRACES_KEY_MAX], uint32_t host, int32_t pid)
{
	snprintf(key, TRACES_KEY_MAX, "%u %d", host, pid);
}

/* Add a process with the number of one that may have ended. */
static int process_add(
	struct traces *t, uint32_t host, int32_t pid, const char *comm, uint32_t *ret)
{
	char key[TRACES_KEY_MAX];
	uint32_t program;
	struct traced_process *p;

	process_key(key, host, pid);
	if (traces_program(t, host, comm, &program) < 0 ||
		TRACES_ROOM(t, processes, n_processes, cap_processes) < 0 ||
		strmap_put(&t->by_process, key, (uint32_t)t->n_processes) < 0)
		return -ENOMEM;
	p = &t->processes[t->n_processes];
	*p = (struct traced_process){
		.host = host, .program = program, .pid = pid, .parent = TRACES_NONE};
	for (size_t i = 0; i < ARRAY_SIZE(p->recent); i++)
		p->recent[i] = TRACES_NONE;
	*ret = (uint32_t)t->n_processes++;
	t->n_born++;
	return 0;
}

int traces_process(struct traces *t, uint32_t host, int32_t pid, uint32_t *ret)
{
	char key[TRACES_KEY_MAX];

	process_key(key, host, pid);
	return strmap_get(&t->by_process, key, ret)
		? 0
		: process_add(t, host, pid, TRACES_COMM_UNKNOWN, ret);
}

int traces_process_at(struct traces *t, uint32_t host, int32_t pid, int64_t at_ns, uint32_t *ret)
{
	const struct traced_process *p;
	int r = traces_process(t, host, pid, ret);

	if (r < 0)
		return r;
	p = &t->processes[*ret];
	if (p->died_ns && at_ns > p->died_ns + NS_PER_SEC)
		return process_add(t, host, pid, TRACES_COMM_UNKNOWN, ret);
	return 0;
}

int traces_name_process(struct traces *t, uint32_t host, int32_t pid, const char *comm)
{
	uint32_t process, program;
	char key[TRACES_KEY_MAX];

	process_key(key, host, pid);
	if (!strmap_get(&t->by_process, key, &process))
		return process_add(t, host, pid, comm, &process);
	if (traces_program(t, host, comm, &program) < 0)
		return -ENOMEM;
	t->processes[process].program = program;
	return 0;
}

int traces_peer(struct traces *t, uint32_t host, const char *name, uint32_t *ret)
{
	char key[TRACES_KEY_MAX], address[END_MAX];
	_cleanup_free_ char *copy = strdup(name), *own = NULL;
	uint16_t port = 0;

	snprintf(key, sizeof(key), "%u %s", host, name);
	if (strmap_get(&t->by_peer, key, ret))
		return 0;
	if (!end_parse(name, address, sizeof(address), &port))
		snprintf(address, sizeof(address), "%.*s", (int)sizeof(address) - 1, name);
	own = strdup(address);
	if (!copy || !own || TRACES_ROOM(t, peers, n_peers, cap_peers) < 0 ||
		strmap_put(&t->by_peer, key, (uint32_t)t->n_peers) < 0)
		return -ENOMEM;
	t->peers[t->n_peers] = (struct traced_peer){.host = host,
		.server = TRACES_NONE,
		.last_us = t->now_ns / 1000,
		.name = TAKE_PTR(copy),
		.address = TAKE_PTR(own),
		.port = port};
	*ret = (uint32_t)t->n_peers++;
	return traces_know_address(t, &t->peers[*ret]);
}

int traces_see_process(
	struct traces *t, uint32_t host, int32_t pid, int64_t at_ns, const char *comm, bool talks)
{
	uint32_t process;

	if (traces_process_at(t, host, pid, at_ns, &process) < 0 ||
		traces_name_process(t, host, pid, comm) < 0)
		return -ENOMEM;
	t->processes[process].seen.talks = t->processes[process].seen.talks || talks;
	return 0;
}

int traces_see_alive(struct traces *t, uint32_t host, int32_t pid, int64_t at_ns)
{
	uint32_t process;

	if (traces_process_at(t, host, pid, at_ns, &process) < 0)
		return -ENOMEM;
	t->hosts[host].traced = true;
	traces_see_host(t, host, at_ns / 1000);
	traces_extend(t, at_ns);
	if (at_ns > t->processes[process].last_ns)
		t->processes[process].last_ns = at_ns;
	return 0;
}

void traces_see_host(struct traces *t, uint32_t host, int64_t wall_us)
{
	struct traced_host *h = &t->hosts[host];

	if (!h->first_us || wall_us < h->first_us)
		h->first_us = wall_us;
	if (wall_us > h->last_us)
		h->last_us = wall_us;
}

static bool is_silence(const struct traced_span *s)
{
	return s->to_us && s->to_us - s->from_us >= SILENCE_US;
}

bool traces_silence(const struct traced_peer *p, size_t i, struct traced_span *ret)
{
	if (i > p->n_silences || (i == p->n_silences && !is_silence(&p->silence)))
		return false;
	*ret = i < p->n_silences ? p->silences[i] : p->silence;
	return true;
}

/* End the silence of a peer, and keep it. */
static int end_silence(struct traced_peer *p)
{
	struct traced_span span = p->silence;

	p->silence = (struct traced_span){0};
	if (!is_silence(&span))
		return 0;
	if (array_reserve(&p->silences, &p->cap_silences, p->n_silences + 1, sizeof(*p->silences)) <
		0)
		return -ENOMEM;
	p->silences[p->n_silences++] = span;
	return 0;
}

/* Note that an answer came at that time. */
static int answer_note(struct traced_peer *p, int64_t wall_us)
{
	struct traced_span *last = p->n_answers ? &p->answers[p->n_answers - 1] : NULL;

	p->first_answer_us = p->first_answer_us ? p->first_answer_us : wall_us;
	p->last_answer_us = wall_us;
	if (last && wall_us - last->to_us <= ANSWERS_APART_US) {
		last->to_us = wall_us;
		return 0;
	}
	if (array_reserve(&p->answers, &p->cap_answers, p->n_answers + 1, sizeof(*p->answers)) < 0)
		return -ENOMEM;
	p->answers[p->n_answers++] = (struct traced_span){wall_us, wall_us};
	return 0;
}

int traces_add_sample(struct traces *t, uint32_t peer, int64_t wall_us, int64_t requests,
	int64_t responses, int64_t waiting_us)
{
	struct traced_peer *p = &t->peers[peer];
	bool answered = responses > p->responses;
	int r = answered || waiting_us <= 0 ? end_silence(p) : 0;

	traces_extend(t, time_ns(wall_us));
	if (r == 0 && answered)
		r = answer_note(p, wall_us);
	if (waiting_us > 0 && !p->silence.to_us)
		p->silence.from_us = wall_us - waiting_us;
	if (waiting_us > 0)
		p->silence.to_us = wall_us;
	p->requests = requests;
	p->responses = responses;
	p->last_us = wall_us;
	return r;
}

/* "glusterfsd:openat:EMFILE": names of programs have no colon. */
static bool tally_parse(
	const char *name, char comm[TRACES_KEY_MAX], uint16_t *ret_nr, uint16_t *ret_error)
{
	char *call, *error;
	int nr;

	snprintf(comm, TRACES_KEY_MAX, "%s", name);
	call = strchr(comm, ':');
	error = call ? strchr(call + 1, ':') : NULL;
	if (!error)
		return false;
	*call++ = '\0';
	*error++ = '\0';
	nr = syscall_number(call);
	*ret_nr = (uint16_t)nr;
	*ret_error = (uint16_t)errno_number(error);
	return nr >= 0 && *ret_error;
}

void traces_tally_key(
	const struct traces *t, const struct traced_tally *tally, char key[TRACES_KEY_MAX])
{
	const struct traced_program *p = &t->programs[tally->program];
	const struct syscall_info *info = syscall_get(tally->nr);
	char buf[SYSCALL_NAME_MAX];

	snprintf(key, TRACES_KEY_MAX, "%u %s:%s:%s", p->host, p->comm, info ? info->name : "",
		errno_name(tally->error, buf));
}

/* The tally with this name, added if it is new. `*ret` is NULL if the name is not that of a
 * tally. */
static int tally_find(
	struct traces *t, uint32_t host, const char *name, int64_t value, struct traced_tally **ret)
{
	char key[TRACES_KEY_MAX], comm[TRACES_KEY_MAX];
	struct traced_tally new = {.value = value};
	uint32_t number;

	*ret = NULL;
	snprintf(key, sizeof(key), "%u %s", host, name);
	if (strmap_get(&t->by_tally, key, &number)) {
		*ret = &t->tallies[number];
		return 0;
	}
	if (!tally_parse(name, comm, &new.nr, &new.error))
		return 0;
	if (traces_program(t, host, comm, &new.program) < 0 ||
		TRACES_ROOM(t, tallies, n_tallies, cap_tallies) < 0 ||
		strmap_put(&t->by_tally, key, (uint32_t)t->n_tallies) < 0)
		return -ENOMEM;
	*ret = &t->tallies[t->n_tallies++];
	**ret = new;
	return 0;
}

int traces_add_tally(
	struct traces *t, uint32_t host, const char *name, int64_t wall_us, int64_t value)
{
	struct traced_tally *tally;
	int r = tally_find(t, host, name, value, &tally);

	traces_extend(t, time_ns(wall_us));
	if (r < 0 || !tally)
		return r;
	if (value > tally->value) {
		tally->n += (uint64_t)(value - tally->value);
		tally->first_us = tally->first_us ? tally->first_us : wall_us;
		tally->last_us = wall_us;
	}
	tally->value = value;
	tally->row_us = wall_us;
	return 0;
}
