/* A program that takes rights away from itself, and writes: `bounds root|user|calls|none
 * DIRECTORY`. DIRECTORY/file has 600 writes before that and DIRECTORY/later 600 after it. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void write_all(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);

	if (fd < 0)
		abort();
	for (int i = 0; i < 600; i++)
		if (pwrite(fd, "abcd", 4, i * 4) != 4)
			abort();
	close(fd);
}

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Any system call that is not the program's own kills it. */
static void give_up_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		ALLOW(SYS_openat),
		ALLOW(SYS_pwrite64),
		ALLOW(SYS_close),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		abort();
}

int main(int argc, char **argv)
{
	const char *way = argv[1];

	if (argc != 3 || chdir(argv[2]) < 0)
		abort();
	write_all("file");
	if (!strcmp(way, "root") && (chroot(".") < 0 || chdir("/") < 0))
		abort();
	if (!strcmp(way, "user") && (setgid(65534) < 0 || setuid(65534) < 0))
		abort();
	if (!strcmp(way, "user") && fork() > 0)
		_exit(0);
	if (!strcmp(way, "calls"))
		give_up_calls();
	write_all("later");
	return 0;
}
