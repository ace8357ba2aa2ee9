#include "cli/command.h"
#include "cli/incidents_common.h"

#include <errno.h>

struct ack_options {
	struct incidents_common common;
	const char *comment;
	bool undo;
};

#define AT(member) offsetof(struct ack_options, member)

static const struct option_def options[] = {
	{"comment", 'c', OPTION_STRING, AT(comment), "TEXT", "what is being done about it"},
	{"undo", 0, OPTION_FLAG, AT(undo), NULL, "withdraw the acknowledgement"},
	INCIDENTS_BY(struct ack_options),
	INCIDENTS_OPTIONS(struct ack_options),
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct ack_options *opt = values;
	json_t *body;
	int code;

	(void)data;
	if (!n_args) {
		lp_err_set(err, -EINVAL, "name the number of an incident");
		return EXIT_USAGE;
	}
	if (opt->undo)
		return incidents_say_all(&opt->common, "DELETE", "ack", NULL, n_args, args, err);
	body = json_pack("{s:s, s:s}", "by", incidents_by(&opt->common), "comment",
		opt->comment ? opt->comment : "");
	code = incidents_say_all(&opt->common, "POST", "ack", body, n_args, args, err);
	json_decref(body);
	return code;
}

static const struct example examples[] = {
	{"incidents ack 7 --comment 'the drive is ordered'",
		"say that it is known and being worked on"},
	{"incidents ack 7 --undo", "withdraw the acknowledgement"},
	{NULL, NULL},
};

extern const struct command incidents_command_ack;
const struct command incidents_command_ack = {
	.name = "incidents ack",
	.summary = "say that an incident is known and being worked on",
	.usage = "[OPTION...] NUMBER...",
	.description =
		"Acknowledges incidents, so that all operators see who works on them. Alerts "
		"are not affected; 'limpet incidents mute' is for that.",
	.options = options,
	.options_size = sizeof(struct ack_options),
	.examples = examples,
	.run = run,
};
