#include "cli/state_command.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "cli/command.h"
#include "report/flow.h"
#include "report/grid.h"
#include "report/json.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

DEFINE_CLEANUP(struct operator_state *, state_close);

/* In whole seconds, for people. */
static int64_t now_us(void)
{
	return (int64_t)time(NULL) * US_PER_SEC;
}

static json_t *entry_json(const struct state_entry *e)
{
	char at[TIME_TEXT_MAX], until[TIME_TEXT_MAX];

	return json_pack("{s:s,s:o,s:s,s:s?,s:o}", "verb", state_verb_name(e->verb), "component",
		json_text(e->component), "at", time_format(e->at_us, at), "until",
		e->until_us ? time_format(e->until_us, until) : NULL, "note",
		json_text(e->note ? e->note : ""));
}

static void print_json(const char *path, json_t *entries)
{
	json_print(stdout, json_pack("{s:o,s:o}", "state", json_text(path), "entries", entries));
}

/* Print a statement; `undone`: it was removed. */
static void print_entry(const struct state_entry *e, bool undone)
{
	char text[TIME_TEXT_MAX];

	flow_print_safe(stdout, e->component);
	printf(": ");
	if (undone)
		printf("%s undone\n", state_verb_name(e->verb));
	else if (e->verb == STATE_ACK)
		printf("acknowledged\n");
	else if (e->verb == STATE_CLEAR)
		printf("cleared: data before %s no longer counts\n", time_format(e->at_us, text));
	else if (e->until_us)
		printf("muted until %s\n", time_format(e->until_us, text));
	else
		printf("muted until 'limpet mute --undo'\n");
}

static void list_text(const struct state_entry *entries, unsigned n, enum state_verb verb)
{
	static const char *const heading[] = {"component", "since", "until", "note"};
	char text[TIME_TEXT_MAX];
	struct grid g;

	grid_init(&g, verb == STATE_MUTE ? 4 : 3);
	for (unsigned i = 0; i < 4; i++) {
		if (i != 2 || verb == STATE_MUTE)
			grid_add(&g, heading[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct state_entry *e = &entries[i];

		if (e->verb != verb)
			continue;
		grid_add(&g, e->component);
		grid_add(&g, time_format(e->at_us, text));
		if (verb == STATE_MUTE)
			grid_add(&g, e->until_us ? time_format(e->until_us, text) : "-");
		grid_add(&g, e->note);
	}
	grid_print(&g, stdout, isatty(STDOUT_FILENO));
	grid_release(&g);
}

static int list(const char *path, enum state_verb verb, bool json, struct lp_err *err)
{
	_cleanup_(state_closep) struct operator_state *s = NULL;
	const struct state_entry *entries;
	json_t *array;
	unsigned n, n_shown = 0;
	int r = state_open(path, true, &s, err);

	if (r < 0)
		return command_exit_code(r);
	entries = state_entries(s, &n);
	for (unsigned i = 0; i < n; i++)
		n_shown += entries[i].verb == verb;
	if (!json && !n_shown)
		printf("nothing\n");
	if (!json && n_shown)
		list_text(entries, n, verb);
	if (!json)
		return EXIT_HEALTHY;
	array = json_array();
	for (unsigned i = 0; i < n; i++) {
		if (entries[i].verb == verb)
			json_array_append_new(array, entry_json(&entries[i]));
	}
	print_json(path, array);
	return EXIT_HEALTHY;
}

/* Add a statement about one component, or remove it. */
static int apply(
	struct operator_state *s, const struct state_entry *e, bool undo, struct lp_err *err)
{
	unsigned n = 0;
	int r;

	if (!undo)
		return state_say(s, e, err);
	r = state_forget(s, e->verb, e->component, &n, err);
	if (r == 0 && !n)
		return lp_err_set(err, -ENOENT,
			"there is no note about '%s' (see limpet %s --list)", e->component,
			state_verb_name(e->verb));
	return r;
}

static int apply_all(const char *path, const struct state_entry *template, int n_args, char **args,
	const struct state_options *opt, struct lp_err *err)
{
	_cleanup_(state_closep) struct operator_state *s = NULL;
	json_t *array = opt->json ? json_array() : NULL;
	int r = state_open(path, false, &s, err);

	for (int i = 0; r == 0 && i < n_args; i++) {
		struct state_entry e = *template;

		e.component = args[i];
		r = apply(s, &e, opt->undo, err);
		if (r == 0 && array)
			json_array_append_new(array, entry_json(&e));
		else if (r == 0)
			print_entry(&e, opt->undo);
	}
	if (array)
		print_json(path, array);
	return command_exit_code(r);
}

static int check_args(int n_args, char **args, const struct state_options *opt, struct lp_err *err)
{
	if (opt->list && (n_args || opt->undo))
		return lp_err_set(err, -EINVAL, "--list takes neither components nor --undo");
	if (!opt->list && n_args < 1)
		return lp_err_set(err, -EINVAL,
			"name the components, like oss3/disk:sdb or 'oss3/*', or use --list");
	for (int i = 0; i < n_args && !opt->undo; i++) {
		if (!strchr(args[i], '/') && !strpbrk(args[i], "*?["))
			return lp_err_set(err, -EINVAL,
				"'%s' names no component: write OBSERVER/KIND:NAME like "
				"oss3/disk:sdb, or a glob like '%s/*'",
				args[i], args[i]);
	}
	return 0;
}

/* Set the time range of a statement. */
static int fill_times(struct state_entry *e, const struct state_options *opt, struct lp_err *err)
{
	int64_t now = now_us();

	if (opt->for_us && opt->until_us)
		return lp_err_set(err, -EINVAL, "give --for or --until, not both");
	if (opt->until_us && opt->until_us <= now)
		return lp_err_set(err, -EINVAL, "--until is in the past");
	if (opt->at_us > now)
		return lp_err_set(err, -EINVAL, "--at is in the future");
	if (opt->for_us && __builtin_add_overflow(now, opt->for_us, &e->until_us))
		return lp_err_set(err, -EINVAL, "--for is too long");
	if (opt->until_us)
		e->until_us = opt->until_us;
	e->at_us = opt->at_us ? opt->at_us : now;
	return 0;
}

int state_command_run(enum state_verb verb, int n_args, char **args,
	const struct state_options *opt, struct lp_err *err)
{
	_cleanup_free_ char *path = opt->state ? strdup(opt->state) : state_default_path();
	_cleanup_free_ char *note = strdup(opt->note ? opt->note : "");
	struct state_entry e = {.verb = verb, .note = note};

	if (!path || !note)
		return command_exit_code(lp_err_sys(err, -ENOMEM, "cannot begin"));
	if (check_args(n_args, args, opt, err) < 0 || fill_times(&e, opt, err) < 0)
		return EXIT_USAGE;
	if (!opt->list && !opt->state && state_default_dir_make(err) < 0)
		return EXIT_USAGE;
	if (opt->list)
		return list(path, verb, opt->json, err);
	return apply_all(path, &e, n_args, args, opt, err);
}
