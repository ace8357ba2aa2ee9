#include "serve/alerts_send.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "serve/credential.h"
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX 300 /* bytes of an answer that an error quotes */

/* The beginning of an answer. */
struct answer {
	char text[ANSWER_MAX + 1];
	size_t n;
};

static size_t answer_take(char *data, size_t size, size_t n, void *ctx)
{
	struct answer *a = ctx;
	size_t more = size * n < ANSWER_MAX - a->n ? size * n : ANSWER_MAX - a->n;

	memcpy(a->text + a->n, data, more);
	a->n += more;
	a->text[a->n] = '\0';
	return size * n;
}

/* A URL without secrets: without user, password, and everything after the host. */
static const char *url_shown(const char *url, char *buf, size_t size)
{
	const char *host = strstr(url, "://"), *at, *end;

	host = host ? host + 3 : url;
	end = host + strcspn(host, "/?#");
	at = memchr(host, '@', (size_t)(end - host));
	snprintf(buf, size, "%.*s%.*s", (int)(host - url), url, (int)(end - (at ? at + 1 : host)),
		at ? at + 1 : host);
	return buf;
}

static void curl_prepare(CURL *curl, const struct alert_target *t, const char *url,
	const char *token, const char *text, struct curl_slist *headers, struct answer *answer)
{
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ALERT_TIMEOUT_SEC);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, text);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, answer_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "limpet/" LIMPET_VERSION);
	if (t->ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, t->ca_file);
	if (token) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, token);
	}
}

/* The result of a request. */
static int curl_result(
	CURL *curl, CURLcode code, const char *url, const struct answer *answer, struct lp_err *err)
{
	char shown[256];
	long status = 0;

	url_shown(url, shown, sizeof(shown));
	if (code != CURLE_OK)
		return lp_err_set(err, -EIO, "%s: %s", shown, curl_easy_strerror(code));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300)
		return 0;
	return lp_err_set(err, -EIO, "%s answers with %ld%s%.200s", shown, status,
		answer->n ? ": " : "", answer->text);
}

int alert_post(
	const struct alert_target *t, const char *path, const json_t *body, struct lp_err *err)
{
	_cleanup_free_ char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(12));
	_cleanup_(credential_erase) char *token = NULL;
	_cleanup_free_ char *url = NULL;
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	struct answer answer = {0};
	CURL *curl = curl_easy_init();
	int r = t->token_file ? credential_read(t->token_file, &token, err) : 0;

	if (r == 0 && (!t->url || asprintf(&url, "%s%s", t->url, path) < 0))
		url = NULL;
	if (r == 0 && (!text || !url || !headers || !curl))
		r = lp_err_sys(err, -ENOMEM, "cannot send an alert");
	if (r == 0) {
		curl_prepare(curl, t, url, token, text, headers, &answer);
		r = curl_result(curl, curl_easy_perform(curl), url, &answer, err);
	}
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return r;
}

/* Write the JSON to a file that can be read. */
static int input_make(const json_t *body, struct lp_err *err)
{
	_cleanup_free_ char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(12));
	_cleanup_close_ int fd = memfd_create("limpet-alert", MFD_CLOEXEC);

	if (!text || fd < 0 || file_pwrite_full(fd, text, strlen(text), 0) < 0)
		return lp_err_sys(err, text ? -errno : -ENOMEM, "cannot run a command");
	return TAKE_FD(fd);
}

/* The environment of the collector, and variables about the alert. */
struct environment {
	char **items;
	char *own[3];
};

static void environment_release(struct environment *e)
{
	for (size_t i = 0; i < 3; i++)
		free(e->own[i]);
	free(e->items);
}

static int environment_make(struct environment *e, const json_t *body)
{
	const json_t *incident = json_object_get(body, "incident");
	const char *values[3][2] = {
		{"LIMPET_CHANGE", json_string_value(json_object_get(body, "change"))},
		{"LIMPET_LEVEL", json_string_value(json_object_get(incident, "level"))},
		{"LIMPET_WHAT", json_string_value(json_object_get(incident, "what"))}};
	size_t n = 0;

	while (environ[n])
		n++;
	e->items = calloc(n + 4, sizeof(*e->items));
	if (!e->items)
		return -ENOMEM;
	memcpy(e->items, environ, n * sizeof(*e->items));
	for (size_t i = 0; i < 3; i++) {
		if (asprintf(&e->own[i], "%s=%s", values[i][0], values[i][1] ? values[i][1] : "") <
			0) {
			e->own[i] = NULL;
			return -ENOMEM;
		}
		e->items[n + i] = e->own[i];
	}
	return 0;
}

static int command_start(const struct alert_target *t, char **environment, int input, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	/* The threads of the collector block all signals, which programs do not expect. A separate
	 * process group can be killed with all children. */
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	r = posix_spawn(ret, t->command[0], &files, &attr, t->command, environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -r;
}

/* Wait for the command, but not forever. */
static int command_wait(pid_t pid, const char *name, struct lp_err *err)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool late = fd >= 0 && poll(&p, 1, ALERT_TIMEOUT_SEC * 1000) == 0;
	int status = 0;

	if (late)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (late)
		return lp_err_set(
			err, -ETIMEDOUT, "%s takes longer than %d s", name, ALERT_TIMEOUT_SEC);
	if (WIFSIGNALED(status))
		return lp_err_set(err, -EIO, "%s was killed by signal %d", name, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return lp_err_set(err, -EIO, "%s ended with %d", name, WEXITSTATUS(status));
	return 0;
}

int alert_run(const struct alert_target *t, const json_t *body, struct lp_err *err)
{
	_cleanup_(environment_release) struct environment environment = {0};
	_cleanup_close_ int input = input_make(body, err);
	pid_t pid;
	int r;

	if (input < 0)
		return input;
	if (environment_make(&environment, body) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot run a command");
	r = command_start(t, environment.items, input, &pid);
	if (r < 0)
		return lp_err_sys(err, r, "cannot run %s", t->command[0]);
	return command_wait(pid, t->command[0], err);
}
