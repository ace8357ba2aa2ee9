#include "cli/command.h"

#include "serve/tokens.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct enroll_options {
	const char *data;
	bool operator, revoke;
};

#define AT(member) offsetof(struct enroll_options, member)

static const struct option_def options[] = {
	{"data", 0, OPTION_STRING, AT(data), "DIR", "the collector's directory"},
	{"operator", 0, OPTION_FLAG, AT(operator), NULL,
		"NAME is an operator, who may read everything and acknowledge and mute, not a "
		"server"},
	{"revoke", 0, OPTION_FLAG, AT(revoke), NULL,
		"forget NAME: its token is refused from now on"},
	{NULL},
};

static int enroll(const struct enroll_options *opt, const char *name, struct lp_err *err)
{
	enum token_kind kind = opt->operator? TOKEN_OPERATOR : TOKEN_SERVER;
	char text[TOKEN_TEXT_MAX];
	bool replaced = false;
	int r;

	if (opt->revoke)
		return token_revoke(opt->data, kind, name, err);
	r = token_enroll(opt->data, kind, name, text, &replaced, err);
	if (r < 0)
		return r;
	printf("%s\n", text);
	explicit_bzero(text, sizeof(text));
	fprintf(stderr, "This is the only time that the token of %s is shown.%s\n", name,
		replaced ? " It replaces an earlier one." : "");
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct enroll_options *opt = values;

	(void)data;
	if (n_args != 1 || !opt->data) {
		lp_err_set(err, -EINVAL,
			"it needs one NAME and --data DIR (see 'limpet help serve "
			"enroll')");
		return EXIT_USAGE;
	}
	return command_exit_code(enroll(opt, args[0], err));
}

static const struct example examples[] = {
	{"serve enroll oss3 --data /var/lib/limpet-serve", "a token for server oss3"},
	{"serve enroll --operator anna --data /var/lib/limpet-serve", "one for an operator"},
	{"serve enroll --revoke oss3 --data /var/lib/limpet-serve", "oss3 may no longer send"},
	{NULL, NULL},
};

extern const struct command serve_command_enroll;
const struct command serve_command_enroll = {
	.name = "serve enroll",
	.summary = "let a server send, or an operator look: print a token",
	.usage = "--data DIR [OPTION...] NAME",
	.description =
		"Prints a new token for NAME on standard output, once; only its hash is kept, in "
		"DIR/.tokens. Put it into a file that only root can read on that server, and name "
		"the file with 'limpet record --send URL --token FILE'. A server can only send "
		"under its own name. If NAME has a token already, it is replaced. A collector that "
		"is running knows the new token at once.",
	.options = options,
	.options_size = sizeof(struct enroll_options),
	.examples = examples,
	.run = run,
};
