/* The operator's statements about components, kept in a small SQLite file. */
#ifndef EXPLAIN_STATE_H
#define EXPLAIN_STATE_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

struct operator_state;

enum state_verb {
	STATE_ACK,   /* known, being worked on: still shown, marked, no alarm */
	STATE_MUTE,  /* not to be shown, until a time or forever */
	STATE_CLEAR, /* repaired: earlier data no longer counts */
	STATE_VERBS,
};

/* "ack", "mute", "clear". */
const char *state_verb_name(enum state_verb verb);

struct state_entry {
	char *component; /* a full name or a glob */
	enum state_verb verb;
	int64_t at_us;	  /* when it was stated; for STATE_CLEAR: earlier data no longer counts */
	int64_t until_us; /* 0: for ever */
	char *note;	  /* why, "" if not given */
};

/* Open (and make, unless `read_only`) the file; its directory must be there. A missing file is an
 * empty state if read_only. */
int state_open(const char *path, bool read_only, struct operator_state **ret, struct lp_err *err);
void state_close(struct operator_state *s);

/* Add a statement. It replaces an earlier one with the same verb about the same component (or
 * glob). */
int state_say(struct operator_state *s, const struct state_entry *entry, struct lp_err *err);
/* Remove the statement with that verb about that component (or glob). `*ret_n` is 0 if there was
 * none. */
int state_forget(struct operator_state *s, enum state_verb verb, const char *component,
	unsigned *ret_n, struct lp_err *err);

/* All entries; `s` owns them, and they are valid until the next change. */
const struct state_entry *state_entries(const struct operator_state *s, unsigned *ret_n);

/* Does it apply to a component at that time? */
bool state_holds(
	const struct operator_state *s, enum state_verb verb, const char *component, int64_t at_us);
/* The latest clear of a component, 0 if there is none. */
int64_t state_cleared(const struct operator_state *s, const char *component);

/* $LIMPET_STATE, else for root /var/lib/limpet/state.db, else $XDG_STATE_HOME/limpet/state.db, else
 * ~/.local/state/limpet/state.db. The caller frees. NULL: out of memory. */
char *state_default_path(void);

/* Make the directory of state_default_path(), if it is limpet's own: not one that $LIMPET_STATE
 * names, where a typing error would make directories. */
int state_default_dir_make(struct lp_err *err);

#endif
