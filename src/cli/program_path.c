#include "cli/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The places to search, relative to the directory of this program unless absolute. */
static const char *const places[] = {
	".",
	"../cli", /* in the build tree, src/cli and src/lab */
	"../lab",
	"../libexec/limpet", /* installed; works even if the whole tree was moved */
	"../../bin",
	LIMPET_LIBEXECDIR,
	LIMPET_BINDIR,
};

/* The directory of this program; "." if it is unknown. */
static void own_directory(char buf[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", buf, PATH_MAX - 1);
	char *slash;

	buf[len < 0 ? 0 : len] = '\0';
	slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
	else
		snprintf(buf, PATH_MAX, ".");
}

int program_runtime(char buf[PATH_MAX], struct lp_err *err)
{
	/* In the build tree; installed, even if the whole tree was moved. */
	static const char *const homes[] = {"../../runtime", "../" LIMPET_LIBDIR "/limpet",
		LIMPET_PREFIX "/" LIMPET_LIBDIR "/limpet"};
	char dir[PATH_MAX], path[2 * PATH_MAX], found[PATH_MAX];

	own_directory(dir);
	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
		bool absolute = homes[i][0] == '/';

		snprintf(path, sizeof(path), "%s%s%s/liblimpet-calls.so", absolute ? "" : dir,
			absolute ? "" : "/", homes[i]);
		if (!realpath(path, found))
			continue;
		*strrchr(found, '/') = '\0';
		memcpy(buf, found, strlen(found) + 1);
		return 0;
	}
	return lp_err_set(err, -ENOENT, "liblimpet-calls is not installed: it is not in %s/limpet",
		LIMPET_PREFIX "/" LIMPET_LIBDIR);
}

const char *program_path(const char *name, char buf[PATH_MAX])
{
	char dir[PATH_MAX], path[2 * PATH_MAX];

	own_directory(dir);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (places[i][0] == '/')
			snprintf(path, sizeof(path), "%s/%s", places[i], name);
		else
			snprintf(path, sizeof(path), "%s/%s/%s", dir, places[i], name);
		if (realpath(path, buf) && access(buf, X_OK) == 0)
			return buf;
	}
	snprintf(buf, PATH_MAX, "%s", name);
	return buf;
}

int program_exec(const char *name, char **argv, struct lp_err *err)
{
	char path[PATH_MAX], dir[PATH_MAX], *self = argv[0];
	int r;

	program_path(name, path);
	argv[0] = path;
	execvp(path, argv);
	r = -errno;
	argv[0] = self;
	if (r != -ENOENT)
		return lp_err_sys(err, r, "cannot run %s", path);
	own_directory(dir);
	return lp_err_set(err, -ENOENT,
		"%s is not installed: it is not in %s, " LIMPET_LIBEXECDIR
		" or $PATH; install it from limpet's source tree, or the package that has it",
		name, dir);
}

int program_call(const char *name, char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct lp_err err;

		program_exec(name, argv, &err);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 127;
	return WEXITSTATUS(status);
}
