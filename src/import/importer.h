/* The interface of an importer: one file in this folder and one line in meson.build. */
#ifndef IMPORT_IMPORTER_H
#define IMPORT_IMPORTER_H

#include "base/option.h"
#include <limpet/source.h>

/* How certain an importer is that a file is of its format. */
enum import_match {
	IMPORT_NO = 0,
	IMPORT_MAYBE = 1, /* possible (any text may be CSV) */
	IMPORT_YES = 2,	  /* its magic number is present */
};

struct importer {
	const char *name; /* "sysstat": what the user types */
	const char *summary;
	const char *description;	  /* paragraphs for the manual */
	const struct option_def *options; /* NULL-terminated by a row without a name; may be NULL */
	size_t options_size;		  /* bytes of the struct that the options fill, zeroed */

	/* The beginnings of addresses of remote sources ("prometheus+http://"), ended by NULL; NULL
	 * if the importer reads files. `path` is then the whole address, `select` always has a
	 * beginning and, unless it follows, an end, and is valid during the call only. */
	const char *const *schemes;

	/* The suffix that makes a file name of a name that is not a file (".meta"), for data that
	 * consists of several files with one name. NULL: none. */
	const char *base_suffix;

	/* Which side of its peers is worse in the metrics of a source, in the form of
	 * meanings_format(), for metrics whose names do not say it; NULL: nothing. The source owns
	 * the text. May be NULL. */
	const char *(*worse)(const struct lp_source *source);

	/* Judge a file by its first bytes (`n` of them, fewer only if the file is shorter) and its
	 * path. NULL if the importer reads no files. */
	enum import_match (*probe)(const char *path, const unsigned char *head, size_t n);

	/* Open a file as a source. `options` is the struct of `options_size` bytes, or NULL for the
	 * defaults. `select` and everything it points to outlive the source; it may be NULL. */
	int (*open)(const char *path, const void *options, const struct lp_select *select,
		struct lp_warn *warn, struct lp_source **ret_source, struct lp_err *err);

	/* Sources are watched while time passes: several are watched at once. */
	bool live;
};

/* All importers, NULL-terminated, in the order of meson.build. */
extern const struct importer *const importers[];

/* The importer of that name, or NULL. */
const struct importer *importer_find(const char *name);

/* The configured interval, given the typical time between samples: tools are a few milliseconds
 * early or late, and are configured in whole seconds, or simple fractions of one. */
int64_t importer_interval(int64_t typical_us);

/* Is this an address rather than a path: "scheme://..."? */
bool importer_is_address(const char *path);

/* The importer of the remote source with that address. NULL: there is none, and `err` says which
 * schemes there are. */
const struct importer *importer_find_address(const char *path, struct lp_err *err);

#endif
