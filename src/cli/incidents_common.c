#include "cli/incidents_common.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/flow.h"
#include "report/json.h"
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLD "\033[1m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

int incidents_ask(const struct incidents_common *c, const char *method, const char *path,
	const json_t *body, json_t **ret, struct lp_err *err)
{
	const struct client client = {.url = c->url ? c->url : getenv("LIMPET_URL"),
		.token_file = c->token ? c->token : getenv("LIMPET_TOKEN_FILE"),
		.ca_file = c->ca};

	return client_ask(&client, method, path, body, ret, err);
}

int incidents_id_parse(const char *text, int64_t *ret, struct lp_err *err)
{
	const char *digits = *text == '#' ? text + 1 : text;
	char *end;

	errno = 0;
	*ret = strtoll(digits, &end, 10);
	if (end == digits || *end || errno || *ret <= 0)
		return lp_err_set(err, -EINVAL,
			"'%.64s' is not the number of an incident ('limpet incidents' lists them)",
			text);
	return 0;
}

/* The name of the user who runs this, for services and cron jobs, which have no $USER. */
static const char *user_name(void)
{
	/* cppcheck-suppress getpwuidCalled ; there is one thread */
	const struct passwd *entry = getpwuid(getuid());

	return entry && *entry->pw_name ? entry->pw_name : "somebody";
}

const char *incidents_by(const struct incidents_common *c)
{
	const char *user = getenv("SUDO_USER");

	if (c->by)
		return c->by;
	if (!user || !*user)
		user = getenv("USER");
	return user && *user ? user : user_name();
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static const char *level_colour(const json_t *incident, bool colour)
{
	if (!colour)
		return "";
	if (*text_of(incident, "ended"))
		return DIM;
	return !strcmp(text_of(incident, "level"), "critical") ? RED : YELLOW;
}

/* What operators said about it, in a word or two. */
static const char *said_word(const json_t *incident)
{
	bool muted = json_is_object(json_object_get(incident, "muted"));

	if (json_is_object(json_object_get(incident, "acknowledged")))
		return muted ? " (acknowledged, muted)" : " (acknowledged)";
	return muted ? " (muted)" : "";
}

void incidents_print_line(const json_t *incident, bool colour)
{
	bool ended = *text_of(incident, "ended");

	printf("%s#%-5lld %-8s %-20s ", level_colour(incident, colour),
		(long long)json_integer_value(json_object_get(incident, "id")),
		ended ? "ended" : text_of(incident, "level"), text_of(incident, "opened"));
	flow_print_safe(stdout, text_of(incident, "what"));
	printf("%s%s\n", said_word(incident), colour ? PLAIN : "");
}

static void list_print(const char *title, const json_t *list)
{
	size_t i;
	json_t *item;

	if (json_array_size(list))
		printf("%s\n", title);
	json_array_foreach(list, i, item)
	{
		fputs("  ", stdout);
		flow_print_line(stdout, "%s", json_string_value(item));
	}
}

/* A time, to the second. */
static void time_print(const char *before, const char *time)
{
	size_t len = strcspn(time, ".");

	printf("%s%.*s%s", before, (int)len, time, time[len] ? "Z" : "");
}

/* "acknowledged by ann at T: comment" */
static void word_print(const char *what, const json_t *word, const char *key)
{
	if (!json_is_object(word))
		return;
	printf("%s by ", what);
	flow_print_safe(stdout, text_of(word, "by"));
	time_print(" at ", text_of(word, "at"));
	if (*text_of(word, "until"))
		time_print(" until ", text_of(word, "until"));
	if (*text_of(word, key)) {
		fputs(": ", stdout);
		flow_print_safe(stdout, text_of(word, key));
	}
	fputc('\n', stdout);
}

static void times_print(const json_t *in)
{
	json_t *error = json_object_get(in, "first_error_s");
	const char *first = text_of(in, "first"), *ended = text_of(in, "ended");

	time_print("since ", *first ? first : "before the data began");
	if (json_number_value(error) > 0)
		printf(" (plus or minus %g s)", json_number_value(error));
	time_print(", last seen ", text_of(in, "last"));
	time_print("\nopened ", text_of(in, "opened"));
	if (json_integer_value(json_object_get(in, "openings")) > 1)
		printf(" (%lld times)",
			(long long)json_integer_value(json_object_get(in, "openings")));
	time_print(*ended ? ", ended " : ", still open", ended);
	fputc('\n', stdout);
}

void incidents_print_all(const json_t *incident, bool colour)
{
	json_t *comments = json_object_get(incident, "comments"), *comment;
	size_t i;

	printf("%s#%lld %s: ", colour ? BOLD : "",
		(long long)json_integer_value(json_object_get(incident, "id")),
		text_of(incident, "level"));
	flow_print_safe(stdout, text_of(incident, "what"));
	printf("%s\n", colour ? PLAIN : "");
	times_print(incident);
	printf("cause %s, %.0f%% sure, part ", text_of(incident, "cause"),
		100 * json_number_value(json_object_get(incident, "confidence")));
	flow_print_line(stdout, "%s", text_of(incident, "part"));
	word_print("acknowledged", json_object_get(incident, "acknowledged"), "comment");
	word_print("muted", json_object_get(incident, "muted"), "comment");
	list_print("evidence:", json_object_get(incident, "evidence"));
	if (json_array_size(json_object_get(incident, "components")) > 1)
		list_print("components:", json_object_get(incident, "components"));
	list_print("what to do:", json_object_get(incident, "do"));
	json_array_foreach(comments, i, comment)
	{
		word_print("comment", comment, "text");
	}
}

int incidents_say_all(const struct incidents_common *c, const char *method, const char *verb,
	const json_t *body, int n_args, char **args, struct lp_err *err)
{
	json_t *all = json_array();
	int r = all ? 0 : lp_err_sys(err, -ENOMEM, "cannot query the collector");

	for (int i = 0; r == 0 && i < n_args; i++) {
		json_t *incident = NULL;
		char path[96];
		int64_t id;

		r = incidents_id_parse(args[i], &id, err);
		if (r < 0)
			break;
		snprintf(path, sizeof(path), "/api/v1/incidents/%lld/%s", (long long)id, verb);
		r = incidents_ask(c, method, path, body, &incident, err);
		if (r == 0 && !c->json)
			incidents_print_line(incident, false);
		if (r == 0)
			json_array_append_new(all, incident);
	}
	if (r == 0 && c->json && json_print(stdout, json_incref(all)) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot print the incidents");
	json_decref(all);
	return command_exit_code(r);
}
