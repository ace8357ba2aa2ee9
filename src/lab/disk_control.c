#include "lab/disk_control.h"

#include "base/cleanup.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#define ANSWER_WAIT_SECONDS 5
#define NUMBERS_MAX 2
#define BUSY_PERCENT_MIN 0.01

struct word {
	const char *name;
	unsigned n_numbers;
	enum disk_word word;
	int (*apply)(const double *numbers, struct disk_trouble *trouble, struct lp_err *err);
};

static int apply_slow(const double *numbers, struct disk_trouble *trouble, struct lp_err *err)
{
	if (!(numbers[0] >= DISK_SLOW_MIN && numbers[0] <= DISK_SLOW_MAX))
		return lp_err_set(err, -EINVAL, "slow: the factor must be %g to %g", DISK_SLOW_MIN,
			DISK_SLOW_MAX);
	trouble->slow = numbers[0];
	return 0;
}

static int apply_busy(const double *numbers, struct disk_trouble *trouble, struct lp_err *err)
{
	/* A value close to 0 would mean ages between requests, and times beyond any number. */
	if (numbers[0] != 0 &&
		!(numbers[0] >= BUSY_PERCENT_MIN && numbers[0] <= DISK_BUSY_MAX * 100))
		return lp_err_set(err, -EINVAL, "busy: the percentage must be 0, or %g to %g",
			BUSY_PERCENT_MIN, DISK_BUSY_MAX * 100);
	trouble->busy = numbers[0] / 100;
	return 0;
}

static int apply_stall(const double *numbers, struct disk_trouble *trouble, struct lp_err *err)
{
	double every_ms = numbers[0], for_ms = numbers[1];

	if (every_ms != 0 || for_ms != 0) {
		if (!(every_ms >= 1 && every_ms <= (double)DISK_STALL_MAX_MS))
			return lp_err_set(err, -EINVAL, "stall: EVERY_MS must be 1 to %" PRIu64,
				DISK_STALL_MAX_MS);
		if (!(for_ms >= 1 && for_ms <= every_ms / 2))
			return lp_err_set(err, -EINVAL,
				"stall: FOR_MS must be at least 1 and at most half of EVERY_MS");
	}
	trouble->stall_every_ms = (uint64_t)every_ms;
	trouble->stall_for_ms = (uint64_t)for_ms;
	if (trouble->stall_for_ms > trouble->stall_every_ms / 2) /* of fractions */
		trouble->stall_for_ms = trouble->stall_every_ms / 2;
	return 0;
}

static int apply_reset(const double *numbers, struct disk_trouble *trouble, struct lp_err *err)
{
	(void)numbers;
	(void)err;
	*trouble = DISK_TROUBLE_NONE;
	return 0;
}

static int apply_nothing(const double *numbers, struct disk_trouble *trouble, struct lp_err *err)
{
	(void)numbers;
	(void)trouble;
	(void)err;
	return 0;
}

static const struct word words[] = {
	{"slow", 1, DISK_WORD_SET, apply_slow},
	{"busy", 1, DISK_WORD_SET, apply_busy},
	{"stall", 2, DISK_WORD_SET, apply_stall},
	{"reset", 0, DISK_WORD_SET, apply_reset},
	{"show", 0, DISK_WORD_SHOW, apply_nothing},
};

static const struct word *find_word(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) == len && !memcmp(words[i].name, name, len))
			return &words[i];
	}
	return NULL;
}

/* Exactly `n` numbers up to the end of the text. */
static int parse_numbers(const struct word *w, const char *text, double *ret, struct lp_err *err)
{
	for (unsigned i = 0; i < w->n_numbers; i++) {
		size_t len;
		char *end;

		text += strspn(text, " \t");
		/* strtod() accepts more than plain numbers: "nan", "0x1". */
		len = strspn(text, "0123456789.");
		if (len == 0)
			return lp_err_set(err, -EINVAL, "%s takes %u number%s", w->name,
				w->n_numbers, w->n_numbers == 1 ? "" : "s");
		ret[i] = strtod(text, &end);
		if (end != text + len || !isfinite(ret[i]))
			return lp_err_set(err, -EINVAL, "%s: bad number", w->name);
		text = end;
	}
	text += strspn(text, " \t\r");
	if (*text)
		return lp_err_set(err, -EINVAL, "%s: unexpected '%.32s'", w->name, text);
	return 0;
}

int disk_control_parse(const char *line, struct disk_trouble *trouble, enum disk_word *ret_word,
	struct lp_err *err)
{
	double numbers[NUMBERS_MAX] = {0};
	const struct word *w;
	size_t len;
	int r;

	line += strspn(line, " \t");
	len = strcspn(line, " \t\r");
	w = find_word(line, len);
	if (!w)
		return lp_err_set(err, -EINVAL, "'%.*s' is not slow, busy, stall, show or reset",
			len < 32 ? (int)len : 32, line);
	r = parse_numbers(w, line + len, numbers, err);
	if (r < 0)
		return r;
	r = w->apply(numbers, trouble, err);
	if (r < 0)
		return r;
	*ret_word = w->word;
	return 0;
}

void disk_control_show(const struct disk_trouble *trouble, const struct disk_counts *counts,
	char reply[DISK_LINE_MAX])
{
	snprintf(reply, DISK_LINE_MAX,
		"slow %g busy %g stall %" PRIu64 " %" PRIu64 " requests %" PRIu64 " bytes %" PRIu64
		" late_us %" PRIu64 " late_max_us %" PRIu64,
		trouble->slow, trouble->busy * 100, trouble->stall_every_ms, trouble->stall_for_ms,
		counts->requests, counts->bytes, counts->late_us, counts->late_max_us);
}

static int connect_to(const char *socket_path, struct lp_err *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = ANSWER_WAIT_SECONDS};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot make a socket");
	if (strlen(socket_path) >= sizeof(address.sun_path))
		return lp_err_set(
			err, -ENAMETOOLONG, "%s: too long for a socket's path", socket_path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return lp_err_sys(err, -errno, "%s: no disk answers there", socket_path);
	return TAKE_FD(fd);
}

static int send_line(int fd, const char *line)
{
	char text[DISK_LINE_MAX];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	if (n < 0 || (size_t)n >= sizeof(text))
		return -E2BIG;
	for (int done = 0; done < n;) {
		ssize_t k = send(fd, text + done, (size_t)(n - done), MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (k > 0)
			done += (int)k;
	}
	return 0;
}

static int receive_line(int fd, char line[DISK_LINE_MAX])
{
	size_t len = 0;

	while (len < DISK_LINE_MAX) {
		ssize_t k = recv(fd, line + len, DISK_LINE_MAX - len, 0);
		char *end;

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (k == 0)
			return -EPIPE;
		end = memchr(line + len, '\n', (size_t)k);
		if (end) {
			*end = 0;
			return 0;
		}
		len += (size_t)k;
	}
	return -E2BIG;
}

int disk_control(
	const char *socket_path, const char *line, char *reply, size_t size, struct lp_err *err)
{
	static const char bad[] = "error: ";
	char answer[DISK_LINE_MAX];
	_cleanup_close_ int fd = connect_to(socket_path, err);
	int r;

	if (fd < 0)
		return fd;
	r = send_line(fd, line);
	if (r == 0)
		r = receive_line(fd, answer);
	if (r < 0)
		return lp_err_sys(err, r, "%s: the disk did not answer '%s'", socket_path, line);
	if (!strncmp(answer, bad, strlen(bad)))
		return lp_err_set(err, -EINVAL, "the disk says: %s", answer + strlen(bad));
	snprintf(reply, size, "%s", answer);
	return 0;
}
