/* The maps in which libbpf stores the sections of an object. */
#ifndef TRACE_BPF_SECTION_H
#define TRACE_BPF_SECTION_H

struct bpf_map;
struct bpf_object;

/* The map of a section, ".rodata" or ".bss"; NULL: none. */
struct bpf_map *bpf_section(const struct bpf_object *o, const char *suffix);

#endif
