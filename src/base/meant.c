#include "base/meant.h"

#include <stdio.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The number of edits from `a` to `b`: a letter added, removed or replaced, or two neighbours
 * swapped. */
static unsigned count_edits(const char *a, const char *b)
{
	unsigned rows[3][MEANT_MAX + 1], n = (unsigned)strlen(b);
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (unsigned j = 0; j <= n; j++)
		last[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned *spare = before;

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
				least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[n];
}

void meant_consider(struct meant *m, const char *name)
{
	size_t len = strlen(m->word), own = strlen(name);
	unsigned allowed = len < 4 ? 1 : len < 12 ? 2 : 3, n;

	if (!len || len > MEANT_MAX || own > MEANT_MAX || !own)
		return;
	n = count_edits(m->word, name);
	if (n == 0 || n > allowed || n >= own || (m->edits && n >= m->edits))
		return;
	m->edits = n;
	memcpy(m->best, name, own + 1);
}

const char *meant_question(struct meant *m)
{
	m->question[0] = '\0';
	if (m->edits)
		snprintf(m->question, sizeof(m->question), "; did you mean '%s'?", m->best);
	return m->question;
}

const char *meant_among(struct meant *m, const char *word, const char *const *names)
{
	*m = (struct meant){.word = word};
	for (; *names; names++)
		meant_consider(m, *names);
	return meant_question(m);
}
