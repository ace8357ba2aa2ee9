#include "lab/plan.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/meant.h"
#include "base/option.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "lab/fs.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 20)
#define LINE_MAX_BYTES 1024
#define WORDS_OF_LINE 6
#define REPEAT_MAX 1000
#define PHASE_MAX_US US_PER_DAY

/* The state after the lines so far. */
struct parser {
	const char *source;
	unsigned line;
	struct plan plan;
	size_t cap;
	unsigned repeat;
	enum plan_trace trace;
	enum plan_functions functions;
	int64_t phases_us[4];
};

void plan_release(struct plan *p)
{
	free(p->experiments);
	*p = (struct plan){0};
}

static void parser_release(struct parser *p)
{
	plan_release(&p->plan);
}

int64_t experiment_us(const struct experiment *e)
{
	return e->warmup_us + e->clean_us + e->fault_us + e->recovery_us;
}

bool experiment_fatal(const struct experiment *e)
{
	for (unsigned i = 0; i < e->n_faults; i++) {
		if (e->faults[i].fault->fatal)
			return true;
	}
	return false;
}

bool experiment_fresh(const struct experiment *e)
{
	for (unsigned i = 0; i < e->n_faults; i++) {
		if (e->faults[i].fault->fresh)
			return true;
	}
	return false;
}

const char *const plan_trace_names[] = {"none", "summary", "records", NULL};

const char *const plan_functions_names[] = {"none", "samples", "calls", "both", NULL};

/* The index of a word in a list, or -1. */
static int place_of(const char *text, const char *const *names)
{
	for (int i = 0; text && names[i]; i++) {
		if (!strcmp(text, names[i]))
			return i;
	}
	return -1;
}

static int functions_parse(const char *text, enum plan_functions *ret, struct lp_err *err)
{
	int i = place_of(text, plan_functions_names);
	struct meant m;

	if (i < 0)
		return lp_err_set(err, -EINVAL,
			"functions: want none, samples, calls or both, not '%.64s'%s", text,
			meant_among(&m, text, plan_functions_names));
	*ret = (enum plan_functions)i;
	return 0;
}

int plan_trace_parse(const char *text, enum plan_trace *ret, struct lp_err *err)
{
	int i = place_of(text, plan_trace_names);
	struct meant m;

	text = text ? text : "";
	if (i >= 0) {
		*ret = (enum plan_trace)i;
		return 0;
	}
	return lp_err_set(err, -EINVAL, "trace: want none, summary or records, not '%.64s'%s", text,
		meant_among(&m, text, plan_trace_names));
}

/* "slow-disk:4@s3"; with the strength only if it is not the default. */
static void spec_print(const struct fault_spec *f, char mark, struct strbuf *sb)
{
	strbuf_puts(sb, f->fault->name);
	if (f->fault->strength && f->strength != f->fault->strength_default)
		strbuf_printf(sb, "%c%g", mark, f->strength);
}

const char *experiment_faults(const struct experiment *e, char *buf, size_t size)
{
	struct strbuf sb = {0};

	for (unsigned i = 0; i < e->n_faults; i++) {
		strbuf_puts(&sb, i ? " + " : "");
		spec_print(&e->faults[i], ':', &sb);
		if (*e->faults[i].on)
			strbuf_printf(&sb, "@%s", e->faults[i].on);
	}
	snprintf(buf, size, "%s", e->n_faults ? sb.text : e->train ? "train" : "none");
	strbuf_release(&sb);
	return buf;
}

/* The name without its number: "ddw-disk-busy+slow-disk_4". */
static int name_begin(const struct experiment *e, struct strbuf *sb, struct lp_err *err)
{
	strbuf_printf(sb, "%s-", e->workload->name);
	for (unsigned i = 0; i < e->n_faults; i++) {
		if (i)
			strbuf_putc(sb, '+');
		spec_print(&e->faults[i], '_', sb);
	}
	if (!e->n_faults)
		strbuf_puts(sb, e->train ? "train" : "none");
	if (sb->failed)
		return lp_err_sys(err, -ENOMEM, "cannot read the plan");
	if (sb->len + sizeof("-10000") > PLAN_NAME_MAX)
		return lp_err_set(
			err, -EINVAL, "the name of the experiment '%.80s' is too long", sb->text);
	return 0;
}

/* The number of existing experiments of this kind. */
static unsigned alike_count(const struct plan *p, const char *begin, size_t len)
{
	for (unsigned i = p->n_experiments; i-- > 0;) {
		const char *name = p->experiments[i].name;

		if (!strncmp(name, begin, len) && name[len] == '-' && !strchr(name + len + 1, '-'))
			return p->experiments[i].number;
	}
	return 0;
}

/* Add an experiment `repeat` times. */
static int experiment_add(struct parser *p, struct experiment *e, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf name = {0};
	int r = name_begin(e, &name, err);

	if (r < 0)
		return r;
	e->warmup_us = p->phases_us[0];
	e->clean_us = p->phases_us[1];
	e->fault_us = p->phases_us[2];
	e->recovery_us = p->phases_us[3];
	e->trace = p->trace;
	e->functions = p->functions;
	e->number = alike_count(&p->plan, name.text, name.len);
	if (p->plan.n_experiments + p->repeat > PLAN_EXPERIMENTS_MAX)
		return lp_err_set(err, -EINVAL, "a plan may have at most %d experiments",
			PLAN_EXPERIMENTS_MAX);
	if (array_reserve(&p->plan.experiments, &p->cap, p->plan.n_experiments + p->repeat,
		    sizeof(*e)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read the plan");
	for (unsigned i = 0; i < p->repeat; i++) {
		e->number++;
		snprintf(e->name, sizeof(e->name), "%.56s-%u", name.text, e->number);
		p->plan.experiments[p->plan.n_experiments++] = *e;
	}
	return 0;
}

/* A named server must exist, and have no other fault of the same experiment. */
static int server_check(
	const struct parser *p, const struct experiment *e, const char *on, struct lp_err *err)
{
	char *end;
	unsigned long number = *on == 's' ? strtoul(on + 1, &end, 10) : 0;
	char name[8];

	snprintf(name, sizeof(name), "s%u", (unsigned)number & 0xffff);
	if (!number || number > p->plan.lab.n_servers || strcmp(name, on))
		return lp_err_set(err, -EINVAL, "there is no server '%s' (there are s1 to s%u)", on,
			p->plan.lab.n_servers);
	for (unsigned i = 0; i < e->n_faults; i++) {
		if (!strcmp(e->faults[i].on, on) &&
			e->faults[i].fault == e->faults[e->n_faults].fault)
			return lp_err_set(err, -EINVAL, "the same fault twice on %s", on);
	}
	return 0;
}

/* "disk-hog+send-pktloss:5@s3" or "none"; modifies `text`. */
static int faults_parse(
	const struct parser *p, char *text, struct experiment *e, struct lp_err *err)
{
	char *save = NULL;

	if (!strcmp(text, "none"))
		return 0;
	for (char *one = strtok_r(text, "+", &save); one; one = strtok_r(NULL, "+", &save)) {
		struct fault_spec *spec = &e->faults[e->n_faults];
		int r;

		if (e->n_faults == PLAN_FAULTS_MAX || e->n_faults == p->plan.lab.n_servers)
			return lp_err_set(err, -EINVAL,
				"at most %d faults at once, and at most one per server",
				PLAN_FAULTS_MAX);
		r = fault_parse(one, spec, err);
		if (r == 0 && *spec->on)
			r = server_check(p, e, spec->on, err);
		if (r < 0)
			return r;
		e->n_faults++;
	}
	return e->n_faults ? 0 : lp_err_set(err, -EINVAL, "a fault or 'none' is missing");
}

/* All faults of a list, for one workload. */
static int run_add(struct parser *p, const struct workload *w, const char *list, struct lp_err *err)
{
	_cleanup_free_ char *copy = strdup(list);
	char *save = NULL;
	unsigned n = 0;

	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot read the plan");
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save), n++) {
		struct experiment e = {.workload = w};
		int r = faults_parse(p, one, &e, err);

		if (r == 0)
			r = experiment_add(p, &e, err);
		if (r < 0)
			return r;
	}
	return n ? 0 : lp_err_set(err, -EINVAL, "a fault or 'none' is missing");
}

/* "run LIST LIST" and "train LIST" (`fault_list` is NULL). */
static int workload_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (const struct workload *const *w = workloads; *w; w++)
		meant_consider(&m, (*w)->name);
	return lp_err_set(err, -EINVAL,
		"there is no workload '%.64s'%s (see 'limpet help lab run')", name,
		meant_question(&m));
}

static int line_run(
	struct parser *p, char *workload_list, const char *fault_list, struct lp_err *err)
{
	char *save = NULL;
	unsigned n = 0;

	for (char *one = strtok_r(workload_list, ",", &save); one;
		one = strtok_r(NULL, ",", &save), n++) {
		struct experiment e = {.workload = workload_find(one), .train = !fault_list};
		int r;

		if (!e.workload)
			return workload_unknown(one, err);
		r = fault_list ? run_add(p, e.workload, fault_list, err)
			       : experiment_add(p, &e, err);
		if (r < 0)
			return r;
	}
	return n ? 0 : lp_err_set(err, -EINVAL, "a workload is missing");
}

static int number_parse(
	const char *text, const char *what, uint64_t most, uint64_t *ret, struct lp_err *err)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value > most)
		return lp_err_set(err, -EINVAL, "%s: '%.64s' is not a number up to %llu", what,
			text, (unsigned long long)most);
	*ret = value;
	return 0;
}

static int line_phases(struct parser *p, char **words, struct lp_err *err)
{
	int64_t us[4];

	for (unsigned i = 0; i < 4; i++) {
		int r = span_parse(words[i + 1], &us[i], err);

		if (r < 0)
			return r;
		if (us[i] > PHASE_MAX_US)
			return lp_err_set(err, -EINVAL, "a phase may last at most a day");
	}
	if (us[1] < US_PER_SEC || us[2] < US_PER_SEC)
		return lp_err_set(
			err, -EINVAL, "the clean and the fault phase must last at least a second");
	memcpy(p->phases_us, us, sizeof(us));
	return 0;
}

/* The shape of the lab, which later experiments depend on. */
static int line_lab(struct parser *p, const char *key, const char *value, struct lp_err *err)
{
	struct lab_config *c = &p->plan.lab;
	bool servers = !strcmp(key, "servers");
	uint64_t n = 0;
	int r;

	if (p->plan.n_experiments)
		return lp_err_set(err, -EINVAL, "'%s' must come before the first experiment", key);
	if (!strcmp(key, "fs")) {
		if (!fs_find(value))
			return lab_fs_unknown(value, err);
		snprintf(c->fs, sizeof(c->fs), "%.15s", value);
		return 0;
	}
	if (!strcmp(key, "disk")) {
		r = bytes_parse(value, &c->disk_bytes, err);
		return r < 0 ? r : lab_disk_check(c->disk_bytes, err);
	}
	if (!strcmp(key, "seed"))
		return number_parse(value, key, INT64_MAX, &c->seed, err);
	r = number_parse(value, key, LAB_NODES_MAX - 2, &n, err);
	if (r < 0)
		return r;
	if (n < 1 || n + (servers ? c->n_clients : c->n_servers) >= LAB_NODES_MAX)
		return lp_err_set(err, -EINVAL,
			"a lab has at least one server and one client, and at most %d of both",
			LAB_NODES_MAX - 1);
	*(servers ? &c->n_servers : &c->n_clients) = (unsigned)n;
	return 0;
}

static int line_repeat(struct parser *p, const char *value, struct lp_err *err)
{
	uint64_t n = 0;
	int r = number_parse(value, "repeat", REPEAT_MAX, &n, err);

	if (r == 0 && !n)
		r = lp_err_set(err, -EINVAL, "'repeat 0' would run nothing");
	if (r == 0)
		p->repeat = (unsigned)n;
	return r;
}

static const struct {
	const char *word, *form;
	unsigned n_words;
} forms[] = {
	{"servers", "servers N", 2},
	{"clients", "clients N", 2},
	{"fs", "fs NAME", 2},
	{"seed", "seed N", 2},
	{"disk", "disk BYTES", 2},
	{"phases", "phases WARMUP CLEAN FAULT RECOVERY", 5},
	{"trace", "trace none|summary|records", 2},
	{"functions", "functions none|samples|calls|both", 2},
	{"repeat", "repeat N", 2},
	{"run", "run WORKLOAD none|FAULT", 3},
	{"train", "train WORKLOAD", 2},
};

/* Does the line have the right words? */
static int form_check(char **words, unsigned n, struct lp_err *err)
{
	struct meant m = {.word = words[0]};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (strcmp(words[0], forms[i].word))
			continue;
		if (n == forms[i].n_words)
			return 0;
		return lp_err_set(err, -EINVAL, "want '%s'", forms[i].form);
	}
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		meant_consider(&m, forms[i].word);
	return lp_err_set(err, -EINVAL,
		"unknown word '%.64s'%s (want servers, clients, fs, seed, disk, phases, trace, "
		"functions, repeat, run or train)",
		words[0], meant_question(&m));
}

static int words_parse(struct parser *p, char **words, unsigned n, struct lp_err *err)
{
	int r = form_check(words, n, err);

	if (r < 0)
		return r;
	if (!strcmp(words[0], "run"))
		return line_run(p, words[1], words[2], err);
	if (!strcmp(words[0], "train"))
		return line_run(p, words[1], NULL, err);
	if (!strcmp(words[0], "phases"))
		return line_phases(p, words, err);
	if (!strcmp(words[0], "trace"))
		return plan_trace_parse(words[1], &p->trace, err);
	if (!strcmp(words[0], "functions"))
		return functions_parse(words[1], &p->functions, err);
	if (!strcmp(words[0], "repeat"))
		return line_repeat(p, words[1], err);
	return line_lab(p, words[0], words[1], err);
}

/* Errors about a line quote its words on a terminal, so check its characters. */
static int signs_check(const char *line, struct lp_err *err)
{
	for (const char *at = line; *at; at++) {
		if ((*at < ' ' || *at > '~') && *at != '\t' && *at != '\r')
			return lp_err_set(err, -EINVAL, "byte 0x%02x is not allowed in a plan",
				(unsigned char)*at);
	}
	return 0;
}

static int line_parse(struct parser *p, const char *text, size_t len, struct lp_err *err)
{
	char line[LINE_MAX_BYTES], *words[WORDS_OF_LINE] = {0}, *save = NULL;
	unsigned n = 0;
	int r;

	if (len >= sizeof(line))
		return lp_err_set(
			err, -EINVAL, "a line may have at most %d bytes", LINE_MAX_BYTES - 1);
	memcpy(line, text, len);
	line[len] = '\0';
	line[strcspn(line, "#")] = '\0';
	r = signs_check(line, err);
	if (r < 0)
		return r;
	for (char *word = strtok_r(line, " \t\r", &save); word && n < WORDS_OF_LINE;
		word = strtok_r(NULL, " \t\r", &save))
		words[n++] = word;
	return n ? words_parse(p, words, n, err) : 0;
}

/* Sort the experiments by workload, otherwise keep their order. */
static int group_by_workload(struct plan *p, struct lp_err *err)
{
	struct experiment *sorted = calloc(p->n_experiments, sizeof(*sorted));
	unsigned n = 0;

	if (!sorted)
		return lp_err_sys(err, -ENOMEM, "cannot read the plan");
	for (unsigned i = 0; i < p->n_experiments; i++) {
		const struct workload *w = p->experiments[i].workload;

		for (unsigned j = i; w && j < p->n_experiments; j++) {
			if (p->experiments[j].workload != w)
				continue;
			sorted[n++] = p->experiments[j];
			p->experiments[j].workload = NULL;
		}
	}
	free(p->experiments);
	p->experiments = sorted;
	return 0;
}

int plan_parse(const char *source, const char *text, struct plan *ret, struct lp_err *err)
{
	_cleanup_(parser_release) struct parser p = {.source = source, .repeat = 1};
	const int64_t usual_us[4] = {
		10 * US_PER_SEC, 60 * US_PER_SEC, 120 * US_PER_SEC, 60 * US_PER_SEC};
	int r = 0;

	lab_config_init(&p.plan.lab);
	memcpy(p.phases_us, usual_us, sizeof(usual_us));
	for (const char *at = text; r == 0 && *at; p.line++) {
		size_t len = strcspn(at, "\n");

		r = line_parse(&p, at, len, err);
		if (r < 0)
			return lp_err_prefix(err, "%s:%u", source, p.line + 1);
		at += len + (at[len] == '\n');
	}
	if (!p.plan.n_experiments)
		return lp_err_set(err, -EINVAL, "%s: no experiment in this plan", source);
	r = group_by_workload(&p.plan, err);
	if (r < 0)
		return r;
	*ret = p.plan;
	p.plan = (struct plan){0};
	return 0;
}

int plan_load(const char *name, struct plan *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	for (const struct plan_text *t = plan_texts; t->name; t++) {
		if (!strcmp(t->name, name))
			return plan_parse(name, t->text, ret, err);
	}
	r = file_slurp(name, TEXT_MAX, &text, &size, err);
	if (r == -ENOENT && !strchr(name, '/')) {
		struct meant m = {.word = name};

		for (const struct plan_text *t = plan_texts; t->name; t++)
			meant_consider(&m, t->name);
		return lp_err_set(err, r, "there is no plan '%.64s', built in or a file%s", name,
			meant_question(&m));
	}
	if (r < 0)
		return r;
	if (strlen(text) != size)
		return lp_err_set(err, -EINVAL, "%s: not a text file", name);
	return plan_parse(name, text, ret, err);
}

void plan_keep(struct plan *p, bool (*wanted)(void *ctx, const struct experiment *e, unsigned i),
	void *ctx)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_experiments; i++) {
		if (wanted(ctx, &p->experiments[i], i))
			p->experiments[n++] = p->experiments[i];
	}
	p->n_experiments = n;
}
