#include "serve/tokens.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/output.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "serve/ingest_check.h"
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#define FILE_MAX (UINT32_C(16) << 20)
#define RANDOM_BYTES 32

static const char *const kind_names[] = {[TOKEN_SERVER] = "server", [TOKEN_OPERATOR] = "operator"};

void token_list_release(struct token_list *l)
{
	free(l->items);
	*l = (struct token_list){0};
}

bool token_name_is_good(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f || strchr("/:,%", name[i]))
			return false;
	}
	return len && len <= TOKEN_NAME_MAX && *name != '.' && *name != '-';
}

static bool hash_parse(const char *hex, uint8_t hash[TOKEN_HASH_SIZE])
{
	if (strlen(hex) != 2 * (size_t)TOKEN_HASH_SIZE ||
		strspn(hex, "0123456789abcdef") != 2 * (size_t)TOKEN_HASH_SIZE)
		return false;
	for (size_t i = 0; i < TOKEN_HASH_SIZE; i++) {
		const char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		hash[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return true;
}

/* Parse a line, which is modified. */
static bool line_parse(char *line, struct token *ret)
{
	struct lp_err ignored;
	char *save = NULL;
	const char *words[5];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = strtok_r(i ? NULL : line, " ", &save);
	if (!words[3] || words[4] || !token_name_is_good(words[1]))
		return false;
	*ret = (struct token){.kind = TOKEN_SERVER};
	if (!strcmp(words[0], kind_names[TOKEN_OPERATOR]))
		ret->kind = TOKEN_OPERATOR;
	else if (strcmp(words[0], kind_names[TOKEN_SERVER]) != 0)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", words[1]);
	return hash_parse(words[2], ret->hash) &&
		time_parse(words[3], &ret->created_us, &ignored) == 0;
}

int token_list_parse(struct token_list *l, const char *text, struct lp_err *err)
{
	for (unsigned number = 1; *text; number++) {
		size_t len = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, len);
		struct token t;

		if (!line || array_reserve(&l->items, &l->cap, l->n + 1, sizeof(t)) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read the tokens");
		text += len + (text[len] == '\n');
		if (!*line || *line == '#')
			continue;
		if (!line_parse(line, &t))
			return lp_err_set(err, -EINVAL,
				"line %u is not KIND NAME HASH TIME, as 'limpet serve enroll' "
				"writes it",
				number);
		l->items[l->n++] = t;
	}
	return 0;
}

static char *file_path(const char *dir)
{
	char *path = NULL;

	return asprintf(&path, "%s/" TOKENS_FILE, dir) < 0 ? NULL : path;
}

int token_list_load(struct token_list *l, const char *dir, struct lp_err *err)
{
	_cleanup_free_ char *path = file_path(dir);
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r = path ? 0 : -ENOMEM;

	if (r < 0)
		return lp_err_sys(err, r, "cannot read the tokens");
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = file_slurp(path, FILE_MAX, &text, &size, err);
	if (r == 0)
		r = token_list_parse(l, text, err);
	return r < 0 ? lp_err_prefix(err, "%s", path) : 0;
}

static void line_add(struct strbuf *sb, const struct token *t)
{
	char when[TIME_TEXT_MAX];

	strbuf_printf(sb, "%s %s ", kind_names[t->kind], t->name);
	for (size_t i = 0; i < TOKEN_HASH_SIZE; i++)
		strbuf_printf(sb, "%02x", t->hash[i]);
	strbuf_printf(sb, " %s\n", time_format(t->created_us, when));
}

static int list_save(const struct token_list *l, const char *dir, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf text = {0};
	_cleanup_(output_release) struct output out = {0};
	_cleanup_free_ char *path = file_path(dir);
	struct stat st;
	int r;

	for (size_t i = 0; i < l->n; i++)
		line_add(&text, &l->items[i]);
	if (text.failed || !path)
		return lp_err_sys(err, -ENOMEM, "cannot keep the tokens");
	r = output_open(&out, path, err);
	if (r < 0)
		return r;
	/* The owner of the directory is the collector, which must be able to read a token that root
	 * enrols. */
	if (geteuid() == 0 && stat(dir, &st) == 0 && fchown(out.fd, st.st_uid, st.st_gid) < 0)
		return lp_err_sys(err, -errno, "cannot give %s to its owner", path);
	if (fchmod(out.fd, 0600) < 0)
		return lp_err_sys(err, -errno, "cannot protect %s", path);
	r = file_pwrite_full(out.fd, text.text ? text.text : "", text.len, 0);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write %s", path);
	return output_commit(&out, path, err);
}

/* Only one process may change the file at a time. */
static int dir_lock(const char *dir, int *ret_fd, struct lp_err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX) < 0) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return lp_err_sys(err, r, "cannot open %s", dir);
	}
	*ret_fd = fd;
	return 0;
}

static bool hash_make(const char *text, uint8_t hash[TOKEN_HASH_SIZE])
{
	return gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), hash) == 0;
}

/* 32 random bytes, encoded for URLs. */
static int text_make(enum token_kind kind, char text[TOKEN_TEXT_MAX], struct lp_err *err)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t bytes[RANDOM_BYTES + 1] = {0};
	char *p = text;

	if (getrandom(bytes, RANDOM_BYTES, 0) != RANDOM_BYTES)
		return lp_err_sys(err, -errno, "cannot make a token");
	p = stpcpy(p, kind == TOKEN_OPERATOR ? "lpo_" : "lps_");
	for (unsigned bit = 0; bit < RANDOM_BYTES * 8; bit += 6) {
		unsigned two = (unsigned)bytes[bit / 8] << 8 | bytes[bit / 8 + 1];

		*p++ = alphabet[two >> (10 - bit % 8) & 63];
	}
	*p = '\0';
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

static struct token *list_find(struct token_list *l, enum token_kind kind, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].kind == kind && !strcmp(l->items[i].name, name))
			return &l->items[i];
	}
	return NULL;
}

int token_enroll(const char *dir, enum token_kind kind, const char *name, char text[TOKEN_TEXT_MAX],
	bool *ret_replaced, struct lp_err *err)
{
	_cleanup_(token_list_release) struct token_list l = {0};
	_cleanup_close_ int lock = -1;
	struct token *t;
	int r;

	if (!token_name_is_good(name))
		return lp_err_set(err, -EINVAL,
			"'%.80s' cannot be a name (1 to %d characters without slash, colon, comma, "
			"percent sign or blank, not beginning with a dot or dash)",
			name, TOKEN_NAME_MAX);
	if (kind == TOKEN_SERVER && !ingest_observer_name(name))
		return lp_err_set(err, -EINVAL,
			"'%.80s' cannot be a server's name: its ending marks the traces of another "
			"server",
			name);
	r = path_make_dirs(dir, err);
	if (r == 0)
		r = dir_lock(dir, &lock, err);
	if (r == 0)
		r = token_list_load(&l, dir, err);
	if (r < 0)
		return r;
	t = list_find(&l, kind, name);
	*ret_replaced = t != NULL;
	if (!t && array_reserve(&l.items, &l.cap, l.n + 1, sizeof(*t)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot keep the tokens");
	if (!t)
		t = &l.items[l.n++];
	*t = (struct token){.kind = kind, .created_us = clock_us(CLOCK_REALTIME)};
	t->created_us -= t->created_us % US_PER_SEC;
	snprintf(t->name, sizeof(t->name), "%s", name);
	r = text_make(kind, text, err);
	if (r == 0 && !hash_make(text, t->hash))
		r = lp_err_set(err, -EIO, "cannot hash the token");
	return r < 0 ? r : list_save(&l, dir, err);
}

int token_revoke(const char *dir, enum token_kind kind, const char *name, struct lp_err *err)
{
	_cleanup_(token_list_release) struct token_list l = {0};
	_cleanup_close_ int lock = -1;
	struct token *t;
	int r = dir_lock(dir, &lock, err);

	if (r == 0)
		r = token_list_load(&l, dir, err);
	if (r < 0)
		return r;
	t = list_find(&l, kind, name);
	if (!t)
		return lp_err_set(err, -ENOENT, "there is no %s '%s'", kind_names[kind], name);
	*t = l.items[--l.n];
	return list_save(&l, dir, err);
}

struct tokens {
	char *dir;
	struct lp_warn *warn;
	pthread_mutex_t mutex;
	struct token_list list;
	struct timespec changed; /* modification time of the file when it was read */
	off_t size;
};

/* Read the file again if it has changed. If that fails, nothing changes. Call it with the mutex
 * held. */
static void tokens_refresh(struct tokens *t)
{
	_cleanup_free_ char *path = file_path(t->dir);
	struct token_list fresh = {0};
	struct lp_err err = {0};
	struct stat st = {0};

	if (!path || (stat(path, &st) < 0 && errno != ENOENT))
		return;
	if (st.st_size == t->size && st.st_mtim.tv_sec == t->changed.tv_sec &&
		st.st_mtim.tv_nsec == t->changed.tv_nsec)
		return;
	t->size = st.st_size;
	t->changed = st.st_mtim;
	if (token_list_load(&fresh, t->dir, &err) < 0) {
		lp_warn_raise(t->warn, "%s; tokens stay as they were", err.text);
		token_list_release(&fresh);
		return;
	}
	token_list_release(&t->list);
	t->list = fresh;
}

int tokens_open(const char *dir, struct lp_warn *warn, struct tokens **ret, struct lp_err *err)
{
	struct tokens *t = calloc(1, sizeof(*t));
	struct token_list check = {0};
	int r = t ? 0 : lp_err_sys(err, -ENOMEM, "cannot serve");

	if (r == 0) {
		pthread_mutex_init(&t->mutex, NULL);
		t->warn = warn;
		t->size = -1;
		t->dir = strdup(dir);
		r = t->dir ? token_list_load(&check, dir, err)
			   : lp_err_sys(err, -ENOMEM, "cannot serve");
	}
	token_list_release(&check);
	if (r < 0) {
		tokens_close(t);
		return r;
	}
	*ret = t;
	return 0;
}

void tokens_close(struct tokens *t)
{
	if (!t)
		return;
	token_list_release(&t->list);
	pthread_mutex_destroy(&t->mutex);
	free(t->dir);
	free(t);
}

bool tokens_find(
	struct tokens *t, enum token_kind kind, const char *text, char *name, size_t name_size)
{
	uint8_t hash[TOKEN_HASH_SIZE];
	bool found = false;

	if (!hash_make(text, hash))
		return false;
	pthread_mutex_lock(&t->mutex);
	tokens_refresh(t);
	for (size_t i = 0; i < t->list.n; i++) {
		const struct token *item = &t->list.items[i];

		if (item->kind != kind || gnutls_memcmp(item->hash, hash, sizeof(hash)) != 0)
			continue;
		snprintf(name, name_size, "%s", item->name);
		found = true;
	}
	pthread_mutex_unlock(&t->mutex);
	return found;
}

size_t tokens_count(struct tokens *t, enum token_kind kind)
{
	size_t n = 0;

	pthread_mutex_lock(&t->mutex);
	tokens_refresh(t);
	for (size_t i = 0; i < t->list.n; i++)
		n += t->list.items[i].kind == kind;
	pthread_mutex_unlock(&t->mutex);
	return n;
}
