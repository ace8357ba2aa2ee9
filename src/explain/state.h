/* The operator's statements about components, kept in a small SQLite file. */
#ifndef EXPLAIN_STATE_H
#define EXPLAIN_STATE_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

struct operator_state;

enum state_verb {
	STATE_ACK,   /* known and being worked on: still shown and marked, no alarm */
	STATE_MUTE,  /* not shown, until a time or forever */
	STATE_CLEAR, /* repaired: earlier data no longer counts */
	STATE_VERBS,
};

/* "ack", "mute", "clear". */
const char *state_verb_name(enum state_verb verb);

struct state_entry {
	char *component; /* a full name or a glob */
	enum state_verb verb;
	int64_t at_us;	  /* when it was said; for STATE_CLEAR: earlier data no longer counts */
	int64_t until_us; /* 0: forever */
	char *note;	  /* why, "" if not given */
};

/* Open the file, and create it unless `read_only`; its directory must exist. If `read_only`, a
 * missing file is an empty state. */
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

/* Does the statement apply to a component at this time? */
bool state_holds(
	const struct operator_state *s, enum state_verb verb, const char *component, int64_t at_us);
/* The time of the latest clear of a component; 0: none. */
int64_t state_cleared(const struct operator_state *s, const char *component);

/* $LIMPET_STATE, else for root /var/lib/limpet/state.db, else $XDG_STATE_HOME/limpet/state.db, else
 * ~/.local/state/limpet/state.db. The caller frees the result. NULL: out of memory. */
char *state_default_path(void);

/* Create the directory of state_default_path(), unless $LIMPET_STATE names it: a typing error there
 * would create a wrong directory. */
int state_default_dir_make(struct lp_err *err);

#endif
