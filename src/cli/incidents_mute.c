#include "cli/command.h"
#include "cli/incidents_common.h"

#include "base/time.h"
#include <errno.h>
#include <stdio.h>

struct mute_options {
	struct incidents_common common;
	const char *comment;
	int64_t for_us, until_us;
	bool undo;
};

#define AT(member) offsetof(struct mute_options, member)

static const struct option_def options[] = {
	{"for", 0, OPTION_SPAN, AT(for_us), "SPAN", "send no alerts for this time: 30m, 8h, 2d"},
	{"until", 0, OPTION_TIME, AT(until_us), "TIME", "send no alerts until this time"},
	{"comment", 'c', OPTION_STRING, AT(comment), "TEXT", "the reason"},
	{"undo", 0, OPTION_FLAG, AT(undo), NULL, "end the mute now"},
	INCIDENTS_BY(struct mute_options),
	INCIDENTS_OPTIONS(struct mute_options),
	{NULL},
};

/* Format the end of a mute, given either way, for the API. */
static const char *when_format(const struct mute_options *opt, char buf[TIME_TEXT_MAX])
{
	if (opt->until_us)
		return time_format(opt->until_us, buf);
	snprintf(buf, TIME_TEXT_MAX, "%llds", (long long)(opt->for_us / US_PER_SEC));
	return buf;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct mute_options *opt = values;
	char text[TIME_TEXT_MAX];
	json_t *body;
	int code;

	(void)data;
	if (!n_args || (!opt->undo && !opt->for_us == !opt->until_us)) {
		lp_err_set(err, -EINVAL,
			"name the number of an incident, and --for SPAN or --until TIME");
		return EXIT_USAGE;
	}
	if (opt->undo)
		return incidents_say_all(&opt->common, "DELETE", "mute", NULL, n_args, args, err);
	body = json_pack("{s:s, s:s, s:s}", "by", incidents_by(&opt->common), "comment",
		opt->comment ? opt->comment : "", opt->for_us ? "for" : "until",
		when_format(opt, text));
	code = incidents_say_all(&opt->common, "POST", "mute", body, n_args, args, err);
	json_decref(body);
	return code;
}

static const struct example examples[] = {
	{"incidents mute 7 --for 8h --comment 'a rebuild'", "send no alerts for eight hours"},
	{"incidents mute 7 --undo", "send alerts again"},
	{NULL, NULL},
};

extern const struct command incidents_command_mute;
const struct command incidents_command_mute = {
	.name = "incidents mute",
	.summary = "send no alerts about an incident for a while",
	.usage = "--for SPAN|--until TIME [OPTION...] NUMBER...",
	.description = "Mutes incidents: until the mute ends, the collector sends no alerts "
		       "about them and does not count them as critical. If an incident is still "
		       "open then, the collector sends an alert again.",
	.options = options,
	.options_size = sizeof(struct mute_options),
	.examples = examples,
	.run = run,
};
