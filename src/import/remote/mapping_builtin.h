/* The tables of metrics in data/mappings, which are part of the program. */
#ifndef IMPORT_REMOTE_MAPPING_BUILTIN_H
#define IMPORT_REMOTE_MAPPING_BUILTIN_H

struct mapping_text {
	const char *name; /* "node_exporter.yaml" */
	const char *text;
};

/* Ended by a row without a name. */
extern const struct mapping_text mapping_texts[];

#endif
