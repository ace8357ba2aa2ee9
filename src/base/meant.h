/* Finds the word that a user may have meant by a mistyped one.
 *
 *     struct meant m = {.word = "diagnos"};
 *     for each name: meant_consider(&m, name);
 *     lp_err_set(err, -EINVAL, "there is no command '%s'%s", word, meant_question(&m));
 */
#ifndef BASE_MEANT_H
#define BASE_MEANT_H

#define MEANT_MAX 64 /* longer words are not compared */

struct meant {
	const char *word;
	unsigned edits; /* the distance of `best` from the word; 0: no best one yet */
	char best[MEANT_MAX + 1];
	char question[MEANT_MAX + 32];
};

/* Keep this name if it is nearer than those before. Two letters may be wrong, missing, added or
 * swapped; one in a short word, and three in a long one (the name of a component). */
void meant_consider(struct meant *m, const char *name);

/* Consider all of `names`, which end with NULL, for `word`, and return the question below. */
const char *meant_among(struct meant *m, const char *word, const char *const *names);

/* "; did you mean 'diagnose'?", or "" if no name is near. Valid as long as `m`. */
const char *meant_question(struct meant *m);

#endif
