/* Access to the collector: tokens of servers and operators. Only their hashes are stored.
 *
 * The file DIR/.tokens (0600) has a line for each:
 *
 *     server oss3 SHA-256-OF-THE-TOKEN 2026-11-17T06:40:00Z
 *
 * A token is 32 random bytes, so a plain hash is safe. The collector reads the file again when it
 * has changed.
 */
#ifndef SERVE_TOKENS_H
#define SERVE_TOKENS_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKENS_FILE ".tokens"
#define TOKEN_TEXT_MAX 64 /* "lps_" and 43 characters */
#define TOKEN_HASH_SIZE 32
#define TOKEN_NAME_MAX 200

enum token_kind { TOKEN_SERVER, TOKEN_OPERATOR };

struct token {
	enum token_kind kind;
	char name[TOKEN_NAME_MAX + 1];
	uint8_t hash[TOKEN_HASH_SIZE];
	int64_t created_us;
};

/* Zero-initialise it. */
struct token_list {
	struct token *items;
	size_t n, cap;
};

void token_list_release(struct token_list *l);

/* Read the text of the file. -EINVAL: `err` names the wrong line. */
int token_list_parse(struct token_list *l, const char *text, struct lp_err *err);

/* Read DIR/.tokens; if it is missing the list is empty. */
int token_list_load(struct token_list *l, const char *dir, struct lp_err *err);

/* Is this a valid name of a server or an operator? It is used in file names and in the lines of
 * this file. */
bool token_name_is_good(const char *name);

/* Create a token for `name` and store its hash in DIR/.tokens. It replaces an earlier token with
 * the same name (`*ret_replaced`). */
int token_enroll(const char *dir, enum token_kind kind, const char *name, char text[TOKEN_TEXT_MAX],
	bool *ret_replaced, struct lp_err *err);

/* Remove a token. -ENOENT: there is none. */
int token_revoke(const char *dir, enum token_kind kind, const char *name, struct lp_err *err);

/* The tokens, as the collector uses them. */
struct tokens;
int tokens_open(const char *dir, struct lp_warn *warn, struct tokens **ret, struct lp_err *err);
void tokens_close(struct tokens *t); /* accepts NULL */

/* The name of the owner of a token; false: the token is unknown. */
bool tokens_find(
	struct tokens *t, enum token_kind kind, const char *text, char *name, size_t name_size);

/* The number of tokens of a kind. */
size_t tokens_count(struct tokens *t, enum token_kind kind);

#endif
