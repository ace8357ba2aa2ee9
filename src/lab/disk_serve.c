#define FUSE_USE_VERSION 312

#include "lab/disk_serve.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "lab/disk_socket.h"
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>

#define REQUEST_MAX_BYTES (1U << 20)
#define WAITING_MAX 128 /* requests that the kernel passes on before it queues them */
#define TIMER_SLACK_NS 5000
#define PRIORITY (-15) /* a disk does not wait for a CPU, and uses hardly any CPU time */
#define ATTR_SECONDS 3600.0

enum { INO_ROOT = FUSE_ROOT_ID, INO_DISK };

enum request_kind { REQUEST_READ, REQUEST_WRITE, REQUEST_SYNC };

/* A request that waits for its time. */
struct request {
	struct request *next;
	fuse_req_t fuse;
	enum request_kind kind;
	int64_t due_ns;
	uint64_t offset;
	uint32_t size_bytes;
};

struct server {
	struct disk_model model;
	struct disk_counts counts;
	int image_fd, signal_fd;
	struct fuse_session *session;
	struct fuse_buf received;
	struct request *first, **last; /* in the order in which they are due */
	struct disk_socket control;
	char *data;	    /* REQUEST_MAX_BYTES: data for the first request, */
	ssize_t data_bytes; /* once this is not -EAGAIN: count or negative errno */
	bool mounted, stop;
};

static int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Prepare the first answer while there is time, so that it is sent when it is due. */
static void prepare_first(struct server *s)
{
	const struct request *q = s->first;

	if (q && q->kind == REQUEST_READ && s->data_bytes == -EAGAIN)
		s->data_bytes =
			file_pread_full(s->image_fd, s->data, q->size_bytes, (off_t)q->offset);
}

static void answer_first(struct server *s)
{
	const struct request *q = s->first;

	prepare_first(s);
	if (q->kind == REQUEST_WRITE)
		fuse_reply_write(q->fuse, q->size_bytes);
	else if (q->kind == REQUEST_SYNC)
		fuse_reply_err(q->fuse, 0);
	else if (s->data_bytes < 0)
		fuse_reply_err(q->fuse, (int)-s->data_bytes);
	else
		fuse_reply_buf(q->fuse, s->data, (size_t)s->data_bytes);
	s->data_bytes = -EAGAIN;
}

static void count_late(struct disk_counts *c, int64_t late_ns)
{
	uint64_t late_us = late_ns > 0 ? (uint64_t)late_ns / 1000 : 0;

	c->late_us += late_us;
	if (late_us > c->late_max_us)
		c->late_max_us = late_us;
}

/* Answer all requests that are due; all requests if `all`. */
static void answer_due(struct server *s, bool all)
{
	while (s->first && (all || s->first->due_ns <= now_ns())) {
		struct request *q = s->first;

		answer_first(s);
		s->first = q->next;
		if (!s->first)
			s->last = &s->first;
		if (!all)
			count_late(&s->counts, now_ns() - q->due_ns);
		free(q);
	}
}

/* Ask the model, and queue the request. */
static void take_request(struct server *s, fuse_req_t fuse, enum request_kind kind, uint64_t offset,
	uint32_t size_bytes)
{
	struct request *q = malloc(sizeof(*q));
	int64_t now = now_ns();

	if (!q) {
		fuse_reply_err(fuse, ENOMEM);
		return;
	}
	*q = (struct request){
		.fuse = fuse, .kind = kind, .offset = offset, .size_bytes = size_bytes};
	if (kind == REQUEST_SYNC) { /* nothing to do beyond what is already queued */
		q->due_ns = now > s->model.free_ns ? now : s->model.free_ns;
	} else {
		q->due_ns = disk_model_serve(&s->model, now, offset, size_bytes);
		s->counts.requests++;
		s->counts.bytes += size_bytes;
	}
	*s->last = q;
	s->last = &q->next;
}

static void disk_stat(const struct server *s, fuse_ino_t ino, struct stat *st)
{
	*st = (struct stat){.st_ino = ino, .st_nlink = 1, .st_blksize = 4096};
	if (ino == INO_DISK) {
		st->st_mode = S_IFREG | 0600;
		st->st_size = (off_t)s->model.params.size_bytes;
		st->st_blocks = (blkcnt_t)(s->model.params.size_bytes / 512);
	} else {
		st->st_mode = S_IFDIR | 0700;
		st->st_nlink = 2;
	}
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->max_write = REQUEST_MAX_BYTES;
	conn->max_read = REQUEST_MAX_BYTES;
	conn->max_background = WAITING_MAX;
	conn->congestion_threshold = WAITING_MAX;
	/* At these rates a copy costs less than pipes. */
	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct server *s = fuse_req_userdata(req);
	struct fuse_entry_param e = {
		.ino = INO_DISK, .attr_timeout = ATTR_SECONDS, .entry_timeout = ATTR_SECONDS};

	if (parent != INO_ROOT || strcmp(name, DISK_FILE_NAME) != 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	disk_stat(s, INO_DISK, &e.attr);
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	disk_stat(fuse_req_userdata(req), ino, &st);
	fuse_reply_attr(req, &st, ATTR_SECONDS);
}

/* Times, owner and mode may be set without effect; the size of a disk cannot be changed. */
static void op_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	(void)attr;
	if (to_set & FUSE_SET_ATTR_SIZE)
		fuse_reply_err(req, EPERM);
	else
		op_getattr(req, ino, fi);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if (ino != INO_DISK) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	fi->direct_io = 1; /* the layer above has its own caches */
	fuse_reply_open(req, fi);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct server *s = fuse_req_userdata(req);
	uint64_t end_bytes = s->model.params.size_bytes, offset = (uint64_t)off;

	(void)ino;
	(void)fi;
	if (off < 0 || size > REQUEST_MAX_BYTES) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	if (offset > end_bytes)
		offset = end_bytes;
	if (size > end_bytes - offset)
		size = end_bytes - offset;
	take_request(s, req, REQUEST_READ, offset, (uint32_t)size);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct server *s = fuse_req_userdata(req);
	uint64_t end_bytes = s->model.params.size_bytes;
	int r;

	(void)ino;
	(void)fi;
	if (off < 0 || (uint64_t)off > end_bytes || size > end_bytes - (uint64_t)off ||
		size > REQUEST_MAX_BYTES) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	r = file_pwrite_full(s->image_fd, buf, size, off);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		take_request(s, req, REQUEST_WRITE, (uint64_t)off, (uint32_t)size);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	(void)fi;
	take_request(fuse_req_userdata(req), req, REQUEST_SYNC, 0, 0);
}

static void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	static const char *const names[] = {".", "..", DISK_FILE_NAME};
	const struct server *s = fuse_req_userdata(req);
	char entries[512];
	size_t room = size < sizeof(entries) ? size : sizeof(entries), used = 0;

	(void)ino;
	(void)fi;
	for (off_t i = off; i < (off_t)(sizeof(names) / sizeof(names[0])); i++) {
		struct stat st;
		size_t n;

		disk_stat(s, i == 2 ? INO_DISK : INO_ROOT, &st);
		n = fuse_add_direntry(req, entries + used, room - used, names[i], &st, i + 1);
		if (n > room - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, entries, used);
}

static const struct fuse_lowlevel_ops operations = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
	.readdir = op_readdir,
};

static void answer_line(void *ctx, const char *line, char reply[DISK_LINE_MAX])
{
	struct server *s = ctx;
	struct disk_trouble trouble = s->model.trouble;
	struct lp_err err = {0};
	enum disk_word word;

	if (disk_control_parse(line, &trouble, &word, &err) < 0) {
		snprintf(reply, DISK_LINE_MAX, "error: %.200s", err.text);
	} else if (word == DISK_WORD_SHOW) {
		disk_control_show(&trouble, &s->counts, reply);
	} else {
		disk_model_set(&s->model, &trouble, now_ns());
		snprintf(reply, DISK_LINE_MAX, "ok");
	}
}

/* The last message of libfuse, which reports errors only this way. */
static char fuse_complaint[200];

__attribute__((format(printf, 2, 0))) static void note_complaint(
	enum fuse_log_level level, const char *fmt, va_list ap)
{
	(void)level;
	vsnprintf(fuse_complaint, sizeof(fuse_complaint), fmt, ap);
	fuse_complaint[strcspn(fuse_complaint, "\n")] = 0;
}

static int open_image(struct server *s, const struct disk_serve_config *c, struct lp_err *err)
{
	struct stat st;

	s->image_fd = open(c->image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->image_fd < 0)
		return lp_err_sys(err, -errno, "%s: cannot open the image", c->image);
	if (fstat(s->image_fd, &st) < 0)
		return lp_err_sys(err, -errno, "%s: cannot read its size", c->image);
	if (!S_ISREG(st.st_mode))
		return lp_err_set(err, -EINVAL, "%s: not a regular file", c->image);
	if ((uint64_t)st.st_size < c->params.size_bytes &&
		ftruncate(s->image_fd, (off_t)c->params.size_bytes) < 0)
		return lp_err_sys(err, -errno, "%s: cannot make it that large", c->image);
	return 0;
}

static int open_signals(struct server *s, struct lp_err *err)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return lp_err_sys(err, -errno, "cannot wait for signals");
	return 0;
}

static int open_session(struct server *s, const char *mount, struct lp_err *err)
{
	char program[] = "limpet", flag[] = "-o";
	char mount_options[] = "fsname=limpet-disk,subtype=limpet,max_read=1048576";
	char *argv[] = {program, flag, mount_options, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	int fd;

	fuse_set_log_func(note_complaint);
	s->session = fuse_session_new(&args, &operations, sizeof(operations), s);
	fuse_opt_free_args(&args);
	if (!s->session)
		return lp_err_set(err, -EIO, "no FUSE session: %s", fuse_complaint);
	if (fuse_session_mount(s->session, mount) != 0)
		return lp_err_set(
			err, -EIO, "%s: cannot mount a disk there: %s", mount, fuse_complaint);
	s->mounted = true;
	fd = fuse_session_fd(s->session);
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return lp_err_sys(err, -errno, "/dev/fuse");
	return 0;
}

static void close_session(struct server *s, const char *mount)
{
	if (!s->session)
		return;
	answer_due(s, true);
	/* Never unmount lazily, as libfuse would: a remaining loop device could not be assigned to
	 * its owner. After this, libfuse only has to free memory. */
	if (s->mounted && (umount2(mount, 0) == 0 || errno == EINVAL))
		fuse_session_unmount(s->session);
	fuse_session_destroy(s->session);
	s->session = NULL;
}

static void receive(struct server *s)
{
	int n = fuse_session_receive_buf(s->session, &s->received);

	if (n > 0)
		fuse_session_process_buf(s->session, &s->received);
	else if (n != -EAGAIN && n != -EINTR)
		s->stop = true; /* unmounted */
}

static void serve_once(struct server *s)
{
	struct pollfd fds[2 + DISK_SOCKET_FDS] = {
		{.fd = fuse_session_fd(s->session), .events = POLLIN},
		{.fd = s->signal_fd, .events = POLLIN},
	};
	struct timespec wait = {0};

	disk_socket_poll(&s->control, fds + 2);
	prepare_first(s);
	if (s->first) {
		int64_t left = s->first->due_ns - now_ns();

		if (left > 0)
			wait = (struct timespec){left / NS_PER_SEC, left % NS_PER_SEC};
	}
	if (ppoll(fds, 2 + DISK_SOCKET_FDS, s->first ? &wait : NULL, NULL) < 0)
		return;
	if (fds[0].revents)
		receive(s);
	answer_due(s, false);
	if (fds[1].revents)
		s->stop = true;
	disk_socket_work(&s->control, fds + 2);
}

/* If some of this is refused, the disk is only less exact. */
static void be_punctual(void)
{
	setpriority(PRIO_PROCESS, 0, PRIORITY);
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0); /* it must not wait for data that it writes back
					       * itself */
}

static int check_config(const struct disk_serve_config *c, struct lp_err *err)
{
	const struct disk_params *p = &c->params;

	if (p->size_bytes == 0 || p->size_bytes > INT64_MAX / 2 || p->size_bytes % 4096)
		return lp_err_set(err, -EINVAL, "a disk's size must be a multiple of 4096 bytes");
	if (p->bandwidth_bytes == 0)
		return lp_err_set(err, -EINVAL, "a disk needs a bandwidth");
	if (p->seek_min_us > p->seek_max_us)
		return lp_err_set(err, -EINVAL, "the shortest seek is longer than the longest");
	return 0;
}

static void server_close(struct server *s, const char *mount)
{
	close_session(s, mount);
	disk_socket_close(&s->control);
	cleanup_closep(&s->image_fd);
	cleanup_closep(&s->signal_fd);
	free(s->received.mem);
	free(s->data);
}

static int server_open(struct server *s, const struct disk_serve_config *c, struct lp_err *err)
{
	int r;

	s->last = &s->first;
	s->data_bytes = -EAGAIN;
	s->control.answer = answer_line;
	s->control.ctx = s;
	disk_model_init(&s->model, &c->params, now_ns());
	s->data = malloc(REQUEST_MAX_BYTES);
	if (!s->data)
		return lp_err_sys(err, -ENOMEM, "no memory for a disk's requests");
	r = open_image(s, c, err);
	if (r == 0)
		r = open_signals(s, err);
	if (r == 0)
		r = disk_socket_open(&s->control, c->control, err);
	if (r == 0)
		r = open_session(s, c->mount, err);
	return r;
}

int disk_serve(const struct disk_serve_config *config, struct lp_err *err)
{
	struct server s = {.image_fd = -1, .signal_fd = -1, .control.listen_fd = -1};
	int r = check_config(config, err);

	if (r < 0)
		return r;
	r = server_open(&s, config, err);
	if (r == 0) {
		be_punctual();
		while (!s.stop && !fuse_session_exited(s.session))
			serve_once(&s);
	}
	server_close(&s, config->mount);
	return r;
}
