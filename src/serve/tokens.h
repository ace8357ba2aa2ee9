/* Access to the collector: tokens of servers and operators, of which only hashes are kept.
 *
 * The file DIR/.tokens (0600) has a line for each:
 *
 *     server oss3 SHA-256-OF-THE-TOKEN 2026-11-17T06:40:00Z
 *
 * A token is 32 random bytes, so that its plain hash reveals nothing about it. The collector looks
 * at the file again when it has changed.
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

/* Can this be the name of a server or an operator? It is part of file names and of a line here. */
bool token_name_is_good(const char *name);

/* Make a token for `name` and keep its hash in DIR/.tokens, in place of an earlier one of the same
 * name (`*ret_replaced`). */
int token_enroll(const char *dir, enum token_kind kind, const char *name, char text[TOKEN_TEXT_MAX],
	bool *ret_replaced, struct lp_err *err);

/* Forget it. -ENOENT: there is none. */
int token_revoke(const char *dir, enum token_kind kind, const char *name, struct lp_err *err);

/* The collector's view of the file. */
struct tokens;
int tokens_open(const char *dir, struct lp_warn *warn, struct tokens **ret, struct lp_err *err);
void tokens_close(struct tokens *t); /* accepts NULL */

/* The name of the owner of a token; false: it is not known. */
bool tokens_find(
	struct tokens *t, enum token_kind kind, const char *text, char *name, size_t name_size);

/* The number of tokens of a kind. */
size_t tokens_count(struct tokens *t, enum token_kind kind);

#endif
