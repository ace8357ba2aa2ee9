#include "runtime/calls_list.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)16 << 20)

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Parse a line "off a:b:c"; false for anything else. */
static bool line_take(char *text, struct calls_line *ret)
{
	size_t word = strcspn(text, " \t");
	char *name = text + word + strspn(text + word, " \t");
	size_t len = strcspn(name, " \t\r");

	if (!(word == 2 && !memcmp(text, "on", 2)) && !(word == 3 && !memcmp(text, "off", 3)))
		return false;
	name[len] = '\0';
	*ret = (struct calls_line){name, (uint32_t)len, word == 2, strpbrk(name, "*?[\\") != NULL};
	return len > 0;
}

bool calls_list_take(const char *text, size_t size, struct calls_list *ret)
{
	struct calls_list l = {.text_size = size + 1};
	size_t n = 1;
	char *end;

	if (!size || size > TEXT_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	l.lines_size = n * sizeof(*l.lines);
	l.text = memory(l.text_size);
	l.lines = memory(l.lines_size);
	if (l.text && l.lines) {
		memcpy(l.text, text, size);
		for (char *line = l.text; line < l.text + size; line = end + 1) {
			end = line + strcspn(line, "\n");
			*end = '\0';
			l.n += line_take(line, &l.lines[l.n]);
		}
	}
	if (!l.n)
		calls_list_release(&l);
	*ret = l;
	return l.n > 0;
}

void calls_list_release(struct calls_list *l)
{
	if (l->text)
		munmap(l->text, l->text_size);
	if (l->lines)
		munmap(l->lines, l->lines_size);
	*l = (struct calls_list){0};
}

bool calls_list_read(const char *path, struct calls_list *ret)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	void *text = MAP_FAILED;
	struct stat st;
	bool done;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
		st.st_size <= (off_t)TEXT_MAX)
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return false;
	done = calls_list_take(text, (size_t)st.st_size, ret);
	munmap(text, (size_t)st.st_size);
	return done;
}

bool calls_list_says(const struct calls_list *l, const char *name, bool *ret_on)
{
	size_t len = strlen(name);

	for (uint32_t i = l->n; i > 0; i--) {
		const struct calls_line *line = &l->lines[i - 1];

		/* A name may have characters with a meaning in patterns: "operator[]". */
		if ((line->len == len && !memcmp(line->name, name, len)) ||
			(line->pattern && fnmatch(line->name, name, 0) == 0)) {
			*ret_on = line->on;
			return true;
		}
	}
	return false;
}
