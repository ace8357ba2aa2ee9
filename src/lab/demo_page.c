#include "lab/demo_page.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/tool.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LISTEN_DEFAULT "127.0.0.1:0"
#define START_WAIT_MS 20000
#define LOOK_MS 100
#define STOP_WAIT_MS 5000
#define SERVING "serving "

bool demo_page_find_url(const char *log_text, char *ret, size_t size)
{
	const char *at = strstr(log_text, SERVING "http");
	size_t len;

	if (!at)
		return false;
	at += strlen(SERVING);
	len = strcspn(at, ", \n");
	/* An incomplete line may lack digits of the port. */
	if (!at[len] || len >= size)
		return false;
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}

static bool read_url(const char *log, char *ret, size_t size)
{
	char text[4096];
	_cleanup_fclose_ FILE *f = fopen(log, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	return demo_page_find_url(text, ret, size);
}

static int wait_for_it(const char *log, struct demo_page *p, struct lp_err *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	char words[256];

	for (unsigned waited = 0; waited < START_WAIT_MS; waited += LOOK_MS) {
		if (read_url(log, p->url, sizeof(p->url)))
			return 0;
		if (!tool_pid(p->pid_file))
			break;
		nanosleep(&pause, NULL);
	}
	tool_last_words(log, words, sizeof(words));
	return lp_err_set(err, -EIO, "the collector did not start: %s (see %s)", words, log);
}

int demo_page_start(const struct lab *lab, const char *limpet, const char *data, const char *listen,
	struct demo_page *ret, struct lp_err *err)
{
	char log[LAB_PATH_MAX];
	const char *const argv[] = {limpet, "serve", "--data", data, "--listen",
		listen ? listen : LISTEN_DEFAULT, NULL};
	const struct spawn s = {.log = lab_path(lab, log, "log/serve.log"),
		.pid_file = lab_path(lab, ret->pid_file, "run/serve.pid"),
		.argv = argv};
	pid_t pid;
	int r;

	/* From an earlier demo. */
	unlink(log);
	r = tool_spawn(&s, &pid, err);
	if (r < 0)
		return lp_err_prefix(err, "cannot start the collector");
	r = wait_for_it(log, ret, err);
	if (r < 0)
		demo_page_stop(ret);
	return r;
}

void demo_page_stop(const struct demo_page *p)
{
	if (*p->pid_file)
		tool_kill(p->pid_file, SIGTERM, STOP_WAIT_MS, NULL);
}
