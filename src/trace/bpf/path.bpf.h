/* The path of an open file, for events of summaries. When the reader gets them, the process may
 * have ended, and /proc no longer shows the descriptor.
 */
#ifndef TRACE_BPF_PATH_H
#define TRACE_BPF_PATH_H

#ifdef __bpf__

#include "trace/bpf/emit.bpf.h"
#include "trace/bpf/file.bpf.h"

#define PATH_PARTS 40 /* the maximum number of names and mount points */
#define PART_MAX 256  /* of a name, with its NUL */

FORCE_INLINE bool path_is_known(void)
{
	return bpf_core_field_exists(((struct file *)0)->f_path) &&
		bpf_core_field_exists(((struct dentry *)0)->d_name) &&
		bpf_core_field_exists(((struct mount *)0)->mnt_mountpoint);
}

/* The mount of a view of a file system. */
FORCE_INLINE struct mount *mount_of(struct vfsmount *view)
{
	return (struct mount *)((uint64_t)view - bpf_core_field_offset(struct mount, mnt));
}

/* The state of the walk is in the scratch, so that the verifier need not track it: the next entry,
 * its view, and the length so far. */
enum { AT_ENTRY, AT_VIEW, AT_LEN };

enum { PATH_GOES_ON, PATH_IS_WHOLE, PATH_IS_UNKNOWN };

/* Copy one part, or go through a mount point. Not inlined, so that it is verified once. */
__attribute__((noinline)) uint32_t path_step(uint32_t zero)
{
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	struct dentry *dentry;
	struct vfsmount *view;
	uint64_t len;
	long n;

	if (!s || !path_is_known())
		return PATH_IS_UNKNOWN;
	dentry = (struct dentry *)s->args[AT_ENTRY];
	view = (struct vfsmount *)s->args[AT_VIEW];
	if (dentry == BPF_CORE_READ(view, mnt_root)) {
		struct mount *mount = mount_of(view), *up = BPF_CORE_READ(mount, mnt_parent);

		if (up == mount)
			return PATH_IS_WHOLE;
		s->args[AT_ENTRY] = (uint64_t)BPF_CORE_READ(mount, mnt_mountpoint);
		s->args[AT_VIEW] = (uint64_t)up + bpf_core_field_offset(struct mount, mnt);
		return PATH_GOES_ON;
	}
	len = s->args[AT_LEN];
	if (len > TRACE_TEXT_MAX - PART_MAX)
		return PATH_IS_UNKNOWN;
	n = bpf_probe_read_kernel_str(s->text + (len & (TRACE_TEXT_MAX - 1)), PART_MAX,
		BPF_CORE_READ(dentry, d_name.name));
	if (n <= 1)
		return PATH_IS_UNKNOWN;
	s->args[AT_LEN] = len + (uint64_t)n;
	s->args[AT_ENTRY] = (uint64_t)BPF_CORE_READ(dentry, d_parent);
	return PATH_GOES_ON;
}

/* Copy the parts of a path to the text of the scratch, the last one first, each followed by a NUL.
 * Returns their length; 0: none, or too long. */
FORCE_INLINE uint32_t path_parts(struct scratch *s, uint64_t address)
{
	struct file *file = POINTER(struct file, address);
	uint32_t now = PATH_GOES_ON;

	if (!path_is_known())
		return 0;
	s->args[AT_ENTRY] = (uint64_t)BPF_CORE_READ(file, f_path.dentry);
	s->args[AT_VIEW] = (uint64_t)BPF_CORE_READ(file, f_path.mnt);
	s->args[AT_LEN] = 0;
	for (int i = 0; i < PATH_PARTS && now == PATH_GOES_ON; i++)
		now = path_step(0);
	return now == PATH_IS_WHOLE ? (uint32_t)s->args[AT_LEN] : 0;
}

#endif
#endif
