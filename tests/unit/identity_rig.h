/* Identities for tests, from text. */
#ifndef IDENTITY_RIG_H
#define IDENTITY_RIG_H

#include <limpet/identity.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct lp_identity **identities_lent;
static uint32_t n_identities_lent;

static void identities_return(void)
{
	lp_identities_free(identities_lent, n_identities_lent);
}

/* One that lives as long as the program, for calls that only read it. */
static inline struct lp_identity *identity_of(const char *text)
{
	identities_lent =
		reallocarray(identities_lent, n_identities_lent + 1, sizeof(struct lp_identity *));
	if (!n_identities_lent)
		atexit(identities_return);
	identities_lent[n_identities_lent] = lp_identity_parse(text);
	return identities_lent[n_identities_lent++];
}

/* `n` of them. */
static inline void identities_of(const char *const *texts, uint32_t n, struct lp_identity **ret)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = identity_of(texts[i]);
}

/* One with a reference that belongs to the caller. */
__attribute__((format(printf, 1, 2))) static inline struct lp_identity *identity_printf(
	const char *fmt, ...)
{
	struct lp_identity *id = NULL;
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		id = lp_identity_parse(text);
	va_end(ap);
	free(text);
	return id;
}

#endif
