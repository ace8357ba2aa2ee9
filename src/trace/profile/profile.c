#include "trace/profile/profile.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "runtime/calls_words.h"
#include "trace/profile/profile_processes.h"
#include "trace/symbols/symbols.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct profile {
	const struct sampler *sampler;
	void *state;
	struct symbols *symbols;
	struct profile_rows *rows;
	struct profile_processes *processes;
	struct profile_totals totals;
	struct instrument instrument;
	int64_t interval_us;
	int64_t slot; /* the interval of the last sample */
	bool sampled; /* there was one */
	bool over;    /* the last sample was taken: only data that did not fit is left */
};

/* Functions in which an idle CPU waits. */
static const char *const idle_functions[] = {"default_idle", "default_idle_call", "do_idle",
	"pv_native_safe_halt", "native_safe_halt", "arch_cpu_idle", "cpu_do_idle", "cpu_idle_poll",
	"poll_idle", "mwait_idle", "mwait_idle_with_hints", "intel_idle", "intel_idle_irq",
	"intel_idle_ibrs", "intel_idle_xstate", "acpi_idle_enter", "acpi_idle_do_entry",
	"acpi_safe_halt", "acpi_processor_ffh_cstate_enter", "cpuidle_enter_state", "cpuidle_enter",
	"amd_e400_idle", "tdx_safe_halt", "psci_cpu_suspend_enter"};

static bool is_idle(const struct sampler_count *c, const struct symbols_answer *a)
{
	if (!c->kernel || strncmp(c->comm, "swapper/", 8) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(idle_functions); i++) {
		if (!strcmp(a->function, idle_functions[i]))
			return true;
	}
	return false;
}

void profile_word_make(char *word, bool colons)
{
	calls_word_make(word, colons);
}

void profile_program_name(const char *comm, char ret[SAMPLER_COMM_MAX])
{
	calls_word_program(comm, ret, SAMPLER_COMM_MAX);
}

static int find(struct profile *p, const struct symbols_query *q, struct symbols_answer *a)
{
	int r = symbols_find(p->symbols, q, a);

	profile_word_make(a->image, false);
	profile_word_make(a->function, true);
	return r;
}

/* "dd;main;copy_file": the outermost frame first, as usual. If there are too many, the outermost
 * frames are left out. */
static int count_stack(struct profile *p, const struct sampler_count *c, const char *program,
	const struct symbols_answer *top)
{
	char name[PROFILE_STACK_NAME_MAX];
	struct symbols_answer a;
	size_t at = sizeof(name) - 1, len = strlen(program);

	name[at] = '\0';
	for (unsigned i = 0; i < c->n_stack || i == 0; i++) {
		struct symbols_query q = {.address = i < c->n_stack ? c->stack[i] : 0,
			.pid = c->pid,
			.kernel = i < c->n_kernel_stack};
		size_t n;

		if (i && find(p, &q, &a) < 0)
			return -ENOMEM;
		/* Code without frame pointers leads to invalid addresses. */
		if (i && !a.known && !q.kernel)
			break;
		n = strlen(i ? a.function : top->function);
		if (at < n + len + 2)
			break;
		at -= n;
		memcpy(name + at, i ? a.function : top->function, n);
		name[--at] = ';';
	}
	at -= len;
	memcpy(name + at, program, len);
	return profile_rows_count(p->rows, PROFILE_STACKS, name + at, c->n);
}

static int on_count(void *ctx, const struct sampler_count *c)
{
	struct profile *p = ctx;
	struct symbols_query q = {.address = c->address,
		.pid = c->pid,
		.kernel = c->kernel,
		.id = c->id,
		.offset = c->offset};
	char program[SAMPLER_COMM_MAX], name[PROFILE_NAME_MAX];
	struct symbols_answer a;
	int r = find(p, &q, &a);

	if (r < 0 || !p->sampled)
		return r;
	if (is_idle(c, &a)) {
		p->totals.idle += c->n;
		return 0;
	}
	p->totals.samples += c->n;
	p->totals.unknown += a.known ? 0 : c->n;
	profile_program_name(c->comm, program);
	profile_processes_count(p->processes, program, c->process, c->n);
	snprintf(name, sizeof(name), "%s:%s:%s", program, a.image, a.function);
	r = profile_rows_count(p->rows, PROFILE_FUNCTIONS, name, c->n);
	return r == 0 && c->n_stack ? count_stack(p, c, program, &a) : r;
}

static int on_executed(void *ctx, int pid, int parent, const char *path)
{
	return symbols_executed(((struct profile *)ctx)->symbols, pid, parent, path);
}

static int on_mapped(void *ctx, int pid, uint64_t start, uint64_t end, uint64_t offset,
	uint64_t inode, const char *path)
{
	return symbols_mapped(
		((struct profile *)ctx)->symbols, pid, start, end, offset, inode, path);
}

static int drain(struct profile *p, struct lp_err *err)
{
	const struct sampler_sink sink = {
		.count = on_count, .executed = on_executed, .mapped = on_mapped, .ctx = p};
	int r;

	profile_rows_tick(p->rows);
	r = p->sampler->drain(p->state, &sink, err);
	symbols_tick(p->symbols);
	p->totals.lost = p->sampler->lost(p->state);
	return r;
}

static int profile_open(void *config, void **ret_state, struct lp_err *err)
{
	(void)err;
	*ret_state = config;
	return 0;
}

static int profile_descriptor(void *state)
{
	const struct profile *p = state;

	return p->sampler->descriptor(p->state);
}

static int profile_serve(void *state, int timeout_ms, struct lp_err *err)
{
	const struct profile *p = state;

	(void)timeout_ms;
	return p->sampler->serve(p->state, err);
}

/* The first sample only marks where counting begins. Earlier counts belong to no interval; they are
 * only looked up, so that the names are known later. */
static int profile_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct profile *p = state;
	int64_t slot = floor_div(at->wall_us, p->interval_us);
	int r = 0;

	if (!p->over && (!p->sampled || slot != p->slot || at->last))
		r = drain(p, err);
	if (r == 0)
		profile_processes_note(p->processes, at->wall_us, sink->spool);
	p->sampled = true;
	p->slot = slot;
	if (r == 0)
		r = profile_rows_fill(p->rows, &p->totals, sink, err);
	if (r < 0 || !at->last)
		return r < 0 ? r : 0;
	if (p->over) /* possible only once */
		return 0;
	p->over = true;
	return r;
}

/* Its creator owns it. */
static void profile_close(void *state)
{
	(void)state;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	if (p->sampler)
		p->sampler->close(p->state);
	symbols_free(p->symbols);
	profile_rows_free(p->rows);
	profile_processes_free(p->processes);
	free(p);
}

DEFINE_CLEANUP(struct profile *, profile_free);

static void instrument_fill(struct profile *p, bool at_ends)
{
	p->instrument = (struct instrument){.name = "profile",
		.at_ends = at_ends,
		.open = profile_open,
		.descriptor = p->sampler->descriptor ? profile_descriptor : NULL,
		.serve = p->sampler->serve ? profile_serve : NULL,
		.sample = profile_sample,
		.close = profile_close};
}

int profile_new(const struct profile_config *config, struct profile **ret, struct lp_err *why,
	struct lp_err *err)
{
	_cleanup_(profile_freep) struct profile *p = calloc(1, sizeof(*p));
	struct sampler_config sampler = {.hz = config->hz ? config->hz : SAMPLER_HZ_DEFAULT,
		.clock = config->clock,
		.stacks = config->stacks,
		.netns = config->netns};
	int r;

	if (!p)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	p->interval_us = config->interval_us ? config->interval_us : PROFILE_INTERVAL_US;
	sampler.interval_us = p->interval_us;
	p->totals.hz = sampler.hz;
	p->symbols = symbols_new("/proc", PROFILE_DEBUG_DIR);
	p->rows = profile_rows_new(config->observer);
	p->processes = profile_processes_new("/proc");
	if (!p->symbols || !p->rows || !p->processes || symbols_survey(p->symbols) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	if (sampler.hz > SAMPLER_HZ_MAX)
		return lp_err_set(err, -EINVAL, "at most %d samples per second", SAMPLER_HZ_MAX);
	r = sampler_open(config->sampler, &sampler, &p->sampler, &p->state, why, err);
	if (r < 0)
		return r;
	instrument_fill(p, config->at_ends);
	*ret = TAKE_PTR(p);
	return 0;
}

const struct instrument *profile_instrument(const struct profile *p)
{
	return &p->instrument;
}

const struct profile_totals *profile_totals(const struct profile *p)
{
	return &p->totals;
}

const struct profile_rows *profile_counts(const struct profile *p)
{
	return p->rows;
}

const char *profile_sampler(const struct profile *p)
{
	return p->sampler->name;
}

const char *profile_clock(const struct profile *p)
{
	return p->sampler->clock(p->state) == SAMPLER_CLOCK_CYCLES ? "cycles" : "time";
}
