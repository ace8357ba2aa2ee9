#include "cli/command.h"
#include "cli/program.h"

#include "base/meant.h"
#include "report/flow.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *command_verb(const struct command *c)
{
	const char *blank = strrchr(c->name, ' ');

	return blank ? blank + 1 : c->name;
}

const char *command_dashed(const struct command *c, char buf[COMMAND_NAME_MAX])
{
	snprintf(buf, COMMAND_NAME_MAX, "%s", c->name);
	for (char *p = buf; *p; p++)
		*p = *p == ' ' ? '-' : *p;
	return buf;
}

static const struct command *find_in(const struct command *const *list, const char *word)
{
	for (; *list; list++) {
		if (!strcmp(command_verb(*list), word))
			return *list;
	}
	return NULL;
}

/* "there is no command 'lab upp'; did you mean 'up'? (see 'limpet help lab')" */
static int not_there(
	const struct command *const *list, const char *group, const char *word, struct lp_err *err)
{
	struct meant m = {.word = word};

	if (word[0] == '-')
		return lp_err_set(err, -EINVAL,
			"unknown option '%s': options stand after the command (see 'limpet help')",
			word);
	for (; *list; list++) {
		if (!(*list)->internal)
			meant_consider(&m, command_verb(*list));
	}
	return lp_err_set(err, -EINVAL, "there is no command '%s%s%s'%s (see 'limpet help%s%s')",
		group, *group ? " " : "", word, meant_question(&m), *group ? " " : "", group);
}

int command_find(int n_words, char *const *words, const struct command **ret, struct lp_err *err)
{
	const struct command *c = n_words ? find_in(program.commands, words[0]) : NULL;
	int n = 1;

	if (!c)
		return not_there(program.commands, "", n_words ? words[0] : "", err);
	for (; c->verbs && n < n_words && words[n][0] != '-'; n++) {
		const struct command *verb = find_in(c->verbs, words[n]);

		if (!verb)
			return not_there(c->verbs, c->name, words[n], err);
		c = verb;
	}
	*ret = c;
	return n;
}

void command_complain(const char *name, const char *text)
{
	flow_print_line(stderr, "limpet%s%s: %s", name ? " " : "", name ? name : "", text);
}

int command_exit_code(int r)
{
	return r == 0 ? EXIT_HEALTHY : r == -ENOMEM ? EXIT_INTERNAL : EXIT_USAGE;
}
