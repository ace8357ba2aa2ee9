/* Finds the word that a user who mistyped one may have meant.
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
	unsigned edits; /* the distance of `best` from the word; 0: there is no best yet */
	char best[MEANT_MAX + 1];
	char question[MEANT_MAX + 32];
};

/* Is this name nearer than those before? Two letters may be wrong, left out, added or swapped; in a
 * short word one, in a long one (a component's name) three. */
void meant_consider(struct meant *m, const char *name);

/* "; did you mean 'diagnose'?", or "" if no name is near. Lives as long as `m`. */
const char *meant_question(struct meant *m);

#endif
