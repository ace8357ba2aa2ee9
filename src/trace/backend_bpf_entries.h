/* Reading and removing entries of the kernel's hash maps: many with one call if the kernel supports
 * that (Linux 5.6), otherwise one by one.
 */
#ifndef TRACE_BACKEND_BPF_ENTRIES_H
#define TRACE_BACKEND_BPF_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_entries {
	int fd;
	uint32_t key_size, value_size, max;
	bool singly;			/* this kernel needs one call per entry, or this is not
					 * known yet */
	unsigned char *keys, *values;	/* of the last reading, n items each */
	size_t n, cap_keys, cap_values; /* capacities in entries */
};

/* For the map with this descriptor, which the caller keeps. 0 or a negative errno. */
int bpf_entries_open(struct bpf_entries *e, int fd);
void bpf_entries_release(struct bpf_entries *e);

/* Read all entries of the map. Entries that are added or removed during the call may be missing,
 * and entries may be repeated. 0 or a negative errno. */
int bpf_entries_read(struct bpf_entries *e);

/* The i-th entry that was read. */
const void *bpf_entries_key(const struct bpf_entries *e, size_t i);
const void *bpf_entries_value(const struct bpf_entries *e, size_t i);

/* Remove these `n` keys, if they exist. */
void bpf_entries_remove(struct bpf_entries *e, const void *keys, size_t n);

#endif
