/* The files behind the descriptors of a process. Children share the table of their parent until one
 * of the two changes it. */
#ifndef EXPLAIN_SEMANTIC_FILES_H
#define EXPLAIN_SEMANTIC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_name;

struct traced_file {
	int32_t fd;
	uint8_t file;	 /* enum trace_file */
	int64_t gone_ns; /* when it was closed; 0: it is open. Calls on it may be reported later. */
	const char *name; /* never NULL */
	struct shared_name *held;
};

struct file_table;

/* Share the table with another process; NULL stays NULL. */
struct file_table *file_table_share(struct file_table *t);
void file_table_free(struct file_table *t);

/* Set a descriptor; creates a new table if `*t` is NULL or shared. 0 or -ENOMEM. */
int file_table_set(struct file_table **t, int32_t fd, uint8_t file, const char *name);
/* Mark a descriptor as closed at that time. */
int file_table_close(struct file_table **t, int32_t fd, int64_t at_ns);

/* The file of a descriptor; NULL: unknown. */
const struct traced_file *file_table_find(const struct file_table *t, int32_t fd);

/* Free entries that were closed before that time. */
void file_table_forget(struct file_table *t, int64_t before_ns);

size_t file_table_size(const struct file_table *t);

#endif
