#include "serve/ingest_file.h"

#include "archive/frames.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define MARK_SUFFIX ".whole"

static int mark_name(const char *name, char buf[NAME_MAX + 1])
{
	return snprintf(buf, NAME_MAX + 1, ".%s" MARK_SUFFIX, name) > NAME_MAX ? -ENAMETOOLONG : 0;
}

static bool has_mark(int dir, const char *name)
{
	char mark[NAME_MAX + 1];

	return mark_name(name, mark) == 0 && faccessat(dir, mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool ingest_file_marked(const char *mark, char buf[NAME_MAX + 1])
{
	size_t len = strlen(mark), suffix = strlen(MARK_SUFFIX);

	if (mark[0] != '.' || len <= suffix + 1 || strcmp(mark + len - suffix, MARK_SUFFIX) != 0)
		return false;
	snprintf(buf, NAME_MAX + 1, "%.*s", (int)(len - suffix - 1), mark + 1);
	return true;
}

void ingest_file_close(struct ingest_file *f)
{
	if (f->name[0] && f->fd >= 0)
		close(f->fd);
	*f = (struct ingest_file){.fd = -1};
}

/* Read the existing frames, up to the first damage. */
static int take_frames(struct ingest_file *f, struct lp_err *err)
{
	_cleanup_(frame_list_release) struct frame_list l = {0};
	int r = frame_list_load(f->fd, &l, err);

	if (r < 0)
		return r;
	f->complete |= l.sealed;
	f->end = FILE_HEADER_SIZE;
	for (size_t i = 0; i < l.n && l.items[i].offset == f->end; i++) {
		f->sum = frame_sum(f->sum, &l.items[i]);
		f->end = frame_end(&l.items[i]);
		f->n_frames++;
	}
	if (f->complete || f->end == l.size)
		return 0;
	return ftruncate(f->fd, (off_t)f->end) < 0 ? lp_err_sys(err, -errno, "cannot cut back") : 0;
}

static int begin(struct ingest_file *f, int dir, struct lp_err *err)
{
	uint8_t header[FILE_HEADER_SIZE];
	int r;

	f->fd = dir_create_file(dir, f->name, 0640); /* traces contain paths and addresses */
	if (f->fd < 0)
		return lp_err_sys(err, f->fd, "cannot create %s", f->name);
	format_put_file_header(header);
	r = file_pwrite_full(f->fd, header, sizeof(header), 0);
	if (r < 0) {
		unlinkat(dir, f->name, 0);
		return lp_err_sys(err, r, "cannot write %s", f->name);
	}
	f->end = sizeof(header);
	return 0;
}

/* Is it shorter than its header, because its writer was killed right after creating it? */
static bool is_stillborn(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size < FILE_HEADER_SIZE;
}

static int go_on(struct ingest_file *f, int dir, bool create, struct lp_err *err)
{
	int r = f->fd = dir_open_own_file(dir, f->name, O_RDWR);

	if (r >= 0 && is_stillborn(r)) {
		close(f->fd);
		f->fd = -1;
		unlinkat(dir, f->name, 0);
		r = -ENOENT;
	}
	if (r == -ENOENT && create)
		return begin(f, dir, err);
	if (r < 0)
		return lp_err_sys(err, r, "cannot open %s", f->name);
	f->complete = has_mark(dir, f->name);
	return take_frames(f, err);
}

int ingest_file_open(
	struct ingest_file *f, int dir, const char *name, bool create, struct lp_err *err)
{
	int r;

	*f = (struct ingest_file){.fd = -1};
	snprintf(f->name, sizeof(f->name), "%s", name);
	r = go_on(f, dir, create, err);
	if (r == 0 && !f->complete && flock(f->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		r = lp_err_set(err, -EBUSY, "%s is being written or sealed", name);
	if (r < 0) {
		ingest_file_close(f);
		return r;
	}
	if (f->complete) {
		close(f->fd);
		f->fd = -1;
	}
	return 0;
}

int ingest_file_append(struct ingest_file *f, const void *frames, size_t size, uint64_t n_frames,
	uint32_t sum, struct lp_err *err)
{
	int r = file_pwrite_full(f->fd, frames, size, (off_t)f->end);

	if (r < 0) {
		/* If this fails as well, the next write overwrites it. */
		if (ftruncate(f->fd, (off_t)f->end) < 0)
			return lp_err_sys(
				err, r, "cannot write %s (nor truncate it again)", f->name);
		return lp_err_sys(err, r, "cannot write %s", f->name);
	}
	f->end += size;
	f->n_frames += n_frames;
	f->sum = sum;
	return 0;
}

bool ingest_file_is_complete(int dir, const char *name)
{
	_cleanup_close_ int fd = dir_open_file(dir, name, O_RDONLY);

	return has_mark(dir, name) || (fd >= 0 && frames_are_closed(fd));
}

int ingest_file_mark(struct ingest_file *f, int dir, struct lp_err *err)
{
	char mark[NAME_MAX + 1];
	int r = mark_name(f->name, mark), fd = -1;

	if (r == 0 && fdatasync(f->fd) < 0)
		r = -errno;
	if (r == 0)
		fd = openat(dir, mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (r == 0 && fd < 0)
		r = -errno;
	if (r < 0)
		return lp_err_sys(err, r, "cannot complete %s", f->name);
	close(fd);
	dir_sync(dir);
	ingest_file_close(f);
	return 0;
}

/* Seal it, or close it with an index. */
static int seal_or_close(const char *path, struct lp_warn *warn, struct lp_err *err)
{
	struct lp_archive_writer *w;
	struct lp_err sealing = {0};
	int r = lp_archive_seal(path, NULL, &sealing);

	if (r != -EBADMSG && r != -EINVAL && r != -E2BIG) {
		*err = sealing;
		return r;
	}
	lp_warn_raise(warn, "%s; it stays as it was sent", sealing.text);
	r = lp_archive_append(path, &w, err);
	return r < 0 ? r : lp_archive_close(w, err);
}

int ingest_file_finish(int dir, const char *path, struct lp_warn *warn, struct lp_err *err)
{
	char mark[NAME_MAX + 1];
	int r = seal_or_close(path, warn, err);

	if ((r == 0 || r == -ENOENT) && mark_name(path_basename(path), mark) == 0)
		unlinkat(dir, mark, 0);
	return r;
}
