/* The operator's state file, of arbitrary bytes: read, queried, and written to. */
#include "base/cleanup.h"
#include "explain/state.h"
#include "fuzz.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

/* SQLite needs a file with a name. */
static void write_file(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = -1;

	if (!*path) {
		snprintf(path, sizeof(path), "%s/limpet-fuzz-state-%d",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", getpid());
		atexit(remove_file);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
}

/* An error has a text that names the file. */
static struct operator_state *try_open(bool read_only)
{
	struct operator_state *s = NULL;
	struct lp_err err = {0};

	if (state_open(path, read_only, &s, &err) < 0 && (s || !strstr(err.text, path)))
		abort();
	return s;
}

static void ask(const struct operator_state *s)
{
	const struct state_entry *entries;
	unsigned n;

	entries = state_entries(s, &n);
	for (unsigned i = 0; i < n; i++) {
		if (entries[i].verb >= STATE_VERBS || strlen(entries[i].note) > 4096)
			abort();
	}
	state_holds(s, STATE_MUTE, "oss3/disk:sdb", 1);
	state_cleared(s, "oss3/disk:sdb");
}

/* Whatever the file contained, a statement that was stored without error exists afterwards. */
static void talk(struct operator_state *s)
{
	char component[] = "fuzz/disk:x", note[] = "note";
	const struct state_entry e = {component, STATE_ACK, 1, 0, note};
	unsigned n;

	if (state_say(s, &e, NULL) == 0 && !state_holds(s, STATE_ACK, component, 2))
		abort();
	state_forget(s, STATE_ACK, component, &n, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct operator_state *s;

	write_file(data, size);
	s = try_open(true);
	if (s)
		ask(s);
	state_close(s);
	s = try_open(false);
	if (s)
		talk(s);
	state_close(s);
	return 0;
}
