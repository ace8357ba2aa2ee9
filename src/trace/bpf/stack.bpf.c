/* Follows I/O below the C library: FUSE requests, reads and writes of daemons on /dev/fuse,
 * messages over TCP, system calls of daemons on their files, and requests to disks.
 *
 * An operation is stored in a map when it begins, and delivered as one event when it ends, so the
 * map contains operations that never end. Only the heads of messages are copied; the reader parses
 * and drops them.
 */
#include "trace/bpf/stack_kernel.bpf.h"
#include "trace/bpf/stack_maps.bpf.h"
#include "trace/bpf/stack_stream.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define FUSE_FORGET 2
#define FUSE_READ 15
#define FUSE_WRITE 16
#define FUSE_INTERRUPT 36
#define FUSE_BATCH_FORGET 42
#define PAGE_SHIFT 12
#define BIOS_MAX 64 /* maximum per request */

/* The first bytes of the arguments of a FUSE READ or WRITE. */
struct fuse_range {
	uint64_t fh, offset;
	uint32_t size;
};

/* The file of a folio in the page cache; NULL: memory of a program. */
FORCE_INLINE struct inode *folio_host(struct folio *folio)
{
	uint64_t mapping = (uint64_t)BPF_CORE_READ(folio, mapping);

	return mapping && !(mapping & 3) ? BPF_CORE_READ((struct address_space *)mapping, host)
					 : NULL;
}

/* The file of the pages in a FUSE request. */
FORCE_INLINE void fuse_pages(struct fuse_args *args, struct stack_event *e)
{
	struct fuse_args_pages *pages = (void *)args;
	struct folio **folios, *folio = NULL;
	struct inode *host;

	if (!bpf_core_field_exists(pages->folios) || !BPF_CORE_READ(pages, num_folios))
		return;
	folios = BPF_CORE_READ(pages, folios);
	bpf_probe_read_kernel(&folio, sizeof(folio), folios);
	host = folio ? folio_host(folio) : NULL;
	if (!host || BPF_CORE_READ(host, i_sb, s_dev) != (uint32_t)e->device)
		return;
	e->inode = BPF_CORE_READ((struct fuse_inode *)host, orig_ino);
	e->flags |= STACK_EVENT_MAPPED;
}

SEC("tp_btf/fuse_request_send")
int on_fuse_send(uint64_t *ctx)
{
	struct fuse_req *req = (void *)ctx[0];
	struct fuse_args *args = req->args;
	struct stack_event e = {.what = STACK_EVENT_FUSE};
	struct fuse_range range = {};
	uint64_t key = (uint64_t)req;

	e.device = req->fm->fc->dev;
	if (!is_watched(&fuse_devices, (uint32_t)e.device))
		return 0;
	e.op = (uint16_t)req->in.h.opcode;
	if (e.op == FUSE_FORGET || e.op == FUSE_INTERRUPT || e.op == FUSE_BATCH_FORGET || !args)
		return 0;
	event_begin(&e);
	e.asker = req->in.h.pid;
	e.key = req->in.h.nodeid;
	e.offset = -1;
	if (req->flags & 1ul << bpf_core_enum_value(enum fuse_req_flag, FR_BACKGROUND))
		e.flags |= STACK_EVENT_BACKGROUND;
	if (e.op == FUSE_READ || e.op == FUSE_WRITE) {
		const void *value = BPF_CORE_READ(args, in_args[0].value);

		bpf_probe_read_kernel(&range, sizeof(range), value);
		e.offset = (int64_t)range.offset;
		e.size = range.size;
		if (e.op == FUSE_WRITE)
			e.flags |= STACK_EVENT_WRITES;
		fuse_pages(args, &e);
	}
	if (bpf_map_update_elem(&open_fuse, &key, &e, BPF_ANY))
		count_lost();
	return 0;
}

/* The number of bytes of a READ or WRITE, or the error. */
FORCE_INLINE int64_t fuse_result(struct fuse_req *req, const struct stack_event *e)
{
	struct fuse_args *args = req->args;
	const void *value;
	uint32_t size = 0;

	if (req->out.h.error)
		return req->out.h.error;
	if (e->op == FUSE_READ && req->out.h.len >= sizeof(struct fuse_out_header))
		return req->out.h.len - sizeof(struct fuse_out_header);
	if (e->op != FUSE_WRITE || !args)
		return 0;
	value = BPF_CORE_READ(args, out_args[0].value);
	bpf_probe_read_kernel(&size, sizeof(size), value);
	return size;
}

SEC("tp_btf/fuse_request_end")
int on_fuse_end(uint64_t *ctx)
{
	struct fuse_req *req = (void *)ctx[0];
	uint64_t key = (uint64_t)req;
	struct stack_event *e = bpf_map_lookup_elem(&open_fuse, &key);

	if (!e)
		return 0;
	e->end_ns = bpf_ktime_get_ns();
	e->unique = req->in.h.unique;
	e->result = fuse_result(req, e);
	emit(e, sizeof(*e));
	bpf_map_delete_elem(&open_fuse, &key);
	return 0;
}

/* The daemon has read a request, or answered one. */
FORCE_INLINE void client_dev(struct stack_call *c, int64_t ret, int writes)
{
	struct stack_client_key key = {.device = c->device};
	struct stack_event *open, e = {.what = STACK_EVENT_CLIENT};
	struct fuse_in_header in = {};
	struct fuse_out_header out = {};
	struct part parts[PARTS];

	if (ret < (int64_t)sizeof(out) || !parts_get(c, parts))
		return;
	if (writes) {
		bpf_probe_read_user(&out, sizeof(out), parts[0].base);
		key.unique = out.unique;
		open = bpf_map_lookup_elem(&open_client, &key);
		if (!open)
			return;
		open->end_ns = c->start_ns;
		open->result = out.error ? out.error : out.len - sizeof(out);
		emit(open, sizeof(*open));
		bpf_map_delete_elem(&open_client, &key);
		return;
	}
	if (ret < (int64_t)sizeof(in) || bpf_probe_read_user(&in, sizeof(in), parts[0].base))
		return;
	if (in.opcode == FUSE_FORGET || in.opcode == FUSE_INTERRUPT ||
		in.opcode == FUSE_BATCH_FORGET)
		return;
	event_begin(&e);
	e.op = (uint16_t)in.opcode;
	e.device = c->device;
	e.asker = in.pid;
	e.key = in.nodeid;
	e.unique = key.unique = in.unique;
	e.offset = -1;
	if (bpf_map_update_elem(&open_client, &key, &e, BPF_ANY))
		count_lost();
}

/* A call of a daemon on a file has ended. */
FORCE_INLINE void storage_call(struct stack_call *c, int64_t ret)
{
	struct stack_file_call call = {.event = {.what = STACK_EVENT_CALL, .op = c->nr}};
	struct file *file = (struct file *)c->file;
	struct stack_event *e = &call.event;

	event_begin(e);
	e->end_ns = e->start_ns;
	e->start_ns = c->start_ns;
	e->device = c->device;
	e->inode = c->inode;
	e->unique = c->fd;
	e->result = ret;
	e->offset = c->offset;
	e->size = c->size;
	if (e->offset < 0 && c->moves && ret >= 0)
		e->offset = (int64_t)BPF_CORE_READ(file, f_pos) - ret;
	if (!e->size && ret > 0)
		e->size = ret;
	if (c->writes)
		e->flags |= STACK_EVENT_WRITES;
	bpf_probe_read_kernel_str(
		call.name, sizeof(call.name), BPF_CORE_READ(file, f_path.dentry, d_name.name));
	emit(&call, sizeof(call));
}

SEC("tp_btf/sys_enter")
int on_enter(uint64_t *ctx)
{
	uint64_t id = bpf_get_current_pid_tgid(), nr = ctx[1];
	uint32_t pid = id >> 32, tid = (uint32_t)id;
	uint32_t *role = bpf_map_lookup_elem(&targets, &pid);
	struct stack_call c = {};

	if (!role || !(*role & (STACK_ROLE_DAEMON | STACK_ROLE_APP)) || nr >= STACK_CALLS_MAX)
		return 0;
	c.class = settings.classes[nr];
	if (c.class == STACK_CLASS_NONE)
		return 0;
	c.nr = (uint16_t)nr;
	call_fill(&c, (struct pt_regs *)ctx[0]);
	if (c.kind == STACK_FILE_STORAGE && settings.block)
		watch_device(c.device);
	if (c.kind == STACK_FILE_STORAGE && settings.own && c.writes)
		watch_inode(c.device, c.inode);
	if (c.kind == STACK_FILE_NONE || !(*role & STACK_ROLE_DAEMON))
		return 0;
	c.start_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&calls, &tid, &c, BPF_ANY);
	return 0;
}

SEC("tp_btf/sys_exit")
int on_exit(uint64_t *ctx)
{
	uint64_t id = bpf_get_current_pid_tgid();
	uint32_t pid = id >> 32, tid = (uint32_t)id;
	uint32_t *role = bpf_map_lookup_elem(&targets, &pid);
	int64_t ret = (int64_t)ctx[1];
	struct stack_call *c;

	if (!role || !(*role & STACK_ROLE_DAEMON))
		return 0;
	c = bpf_map_lookup_elem(&calls, &tid);
	if (!c)
		return 0;
	if (c->kind == STACK_FILE_STORAGE && settings.storage)
		storage_call(c, ret);
	else if (c->kind == STACK_FILE_TCP && ret > 0)
		stream_take(c, (uint32_t)ret);
	else if (c->kind == STACK_FILE_FUSE && settings.client)
		client_dev(c, ret, c->writes);
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}

/* The place in a file of the first byte of disk I/O, if it is page cache. */
FORCE_INLINE void bio_pages(struct bio *bio, struct stack_event *e)
{
	struct bio_vec vec = {};
	struct page *page;
	struct folio *folio;
	struct inode *host;
	uint64_t head, at;

	if (!bpf_core_type_exists(struct folio) ||
		bpf_probe_read_kernel(&vec, bpf_core_type_size(struct bio_vec) & 31,
			bio->bi_io_vec + bio->bi_iter.bi_idx))
		return;
	page = vec.bv_page;
	head = BPF_CORE_READ(page, compound_head);
	folio = head & 1 ? (struct folio *)(head - 1) : (struct folio *)page;
	host = folio_host(folio);
	if (!host)
		return;
	at = ((uint64_t)page - (uint64_t)folio) / bpf_core_type_size(struct page);
	at += BPF_CORE_READ(folio, index);
	e->inode = BPF_CORE_READ(host, i_ino);
	e->key = (at << PAGE_SHIFT) + vec.bv_offset + bio->bi_iter.bi_bvec_done;
	/* Pages of the disk itself are tables of the file system. */
	if (BPF_CORE_READ(host, i_sb, s_dev) == (uint32_t)e->device)
		e->flags |= STACK_EVENT_MAPPED;
	else
		e->inode = e->key = 0;
}

/* Did a watched process request it, or is it for a file that one wrote to? */
FORCE_INLINE bool is_own(const struct stack_event *e)
{
	struct stack_inode key = {e->device, e->inode};

	if (bpf_map_lookup_elem(&targets, &e->pid))
		return true;
	return e->flags & STACK_EVENT_MAPPED && bpf_map_lookup_elem(&written, &key);
}

SEC("tp_btf/block_bio_queue")
int on_bio_queue(uint64_t *ctx)
{
	struct bio *bio = (void *)ctx[0];
	struct stack_event e = {.what = STACK_EVENT_BIO};
	uint64_t key = (uint64_t)bio;

	e.device = bio->bi_bdev->bd_dev;
	e.size = bio->bi_iter.bi_size;
	e.op = bio->bi_opf & 0xff;
	if (!e.size || e.op > 1 || !is_watched(&disks, (uint32_t)e.device))
		return 0;
	event_begin(&e);
	e.offset = (int64_t)bio->bi_iter.bi_sector << 9;
	if (e.op == 1)
		e.flags |= STACK_EVENT_WRITES;
	bio_pages(bio, &e);
	if (settings.own && !is_own(&e))
		return 0;
	if (bpf_map_update_elem(&open_bios, &key, &e, BPF_ANY))
		count_lost();
	return 0;
}

/* The disk gets a request. Several may have been merged into it; they share its number. */
SEC("tp_btf/block_rq_issue")
int on_issue(uint64_t *ctx)
{
	struct request *rq = (void *)ctx[0];
	struct bio *bio = rq->bio;
	uint64_t number = 0;

	for (int i = 0; i < BIOS_MAX && bio; i++) {
		uint64_t key = (uint64_t)bio;
		struct stack_event *e = bpf_map_lookup_elem(&open_bios, &key);

		if (e && !number)
			number = __sync_fetch_and_add(&shared.n_request, 1) + 1;
		if (e && !e->unique)
			e->unique = number;
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

FORCE_INLINE void bio_end(struct bio *bio, int failed)
{
	uint64_t key = (uint64_t)bio;
	struct stack_event *e = bpf_map_lookup_elem(&open_bios, &key);

	if (!e)
		return;
	e->end_ns = bpf_ktime_get_ns();
	e->result = failed ? -5 /* EIO */ : e->size;
	emit(e, sizeof(*e));
	bpf_map_delete_elem(&open_bios, &key);
}

/* For disks with requests: this many bytes of one are complete. */
SEC("tp_btf/block_rq_complete")
int on_complete(uint64_t *ctx)
{
	struct request *rq = (void *)ctx[0];
	uint32_t failed = (uint32_t)ctx[1], left = (uint32_t)ctx[2];
	struct bio *bio = rq->bio;

	for (int i = 0; i < BIOS_MAX && bio; i++) {
		uint32_t size = BPF_CORE_READ(bio, bi_iter.bi_size);

		if (size > left)
			break;
		left -= size;
		bio_end(bio, failed != 0);
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

/* For disks that consist of others. */
SEC("tp_btf/block_bio_complete")
int on_bio_complete(uint64_t *ctx)
{
	struct bio *bio = (void *)ctx[1];

	bio_end(bio, bio->bi_status);
	return 0;
}

/* Children are watched according to the role of their parents. */
SEC("tp_btf/sched_process_fork")
int on_fork(uint64_t *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	uint32_t from = (uint32_t)parent->tgid, to = (uint32_t)child->tgid, value;
	uint32_t *role = bpf_map_lookup_elem(&targets, &from);

	if (!role || from == to || !(*role >> STACK_ROLE_CHILD_SHIFT))
		return 0;
	value = *role >> STACK_ROLE_CHILD_SHIFT;
	value |= value << STACK_ROLE_CHILD_SHIFT;
	bpf_map_update_elem(&targets, &to, &value, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_task_exit(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t pid = (uint32_t)task->pid;

	if (pid == (uint32_t)task->tgid)
		bpf_map_delete_elem(&targets, &pid);
	else
		bpf_map_delete_elem(&calls, &pid);
	return 0;
}

/* The FUSE file systems that watched daemons already serve. */
SEC("iter/task_file")
int find_fuse(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	uint32_t pid, *role;

	if (!task || !file)
		return 0;
	pid = (uint32_t)task->tgid;
	role = bpf_map_lookup_elem(&targets, &pid);
	if (role && *role & STACK_ROLE_DAEMON)
		fuse_watch(file);
	return 0;
}
