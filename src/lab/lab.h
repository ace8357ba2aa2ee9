/* A lab: a small cluster on this machine, made of network namespaces, with one disk per server.
 *
 * Everything that belongs to the lab NAME has that name, so that it can always be removed: the
 * directory LAB_ROOT/NAME with all mounts in it, loop devices on files in it, network namespaces
 * limpet-NAME-*, control groups limpet-NAME-*, and processes in those namespaces. LAB_ROOT is
 * /run/limpet/lab, or $LIMPET_LAB_DIR.
 *
 *   DIR/lab.json          the description of its parts (lab_load() reads it)
 *   DIR/owned             namespaces and control groups that belong to it (owned.h)
 *   DIR/mem/              a separate tmpfs: DIR/mem/s1.img has the contents of a disk
 *   DIR/s1/disk/disk.img  that file behind a disk's service times (FUSE), under a loop device
 *   DIR/s1/disk.ctl       socket that changes the disk (disk_control.h)
 *   DIR/s1/brick/         the file system on its first partition
 *   DIR/c1/mnt/           the parallel file system, mounted by a client
 *   DIR/log/, DIR/run/    logs; pid files: run/s1-disk.pid, run/s1-fs.pid, run/c1-fs.pid,
 *                         run/c1-work.pid, run/s1-record.pid, run/s1-FAULT.pid
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

#define LAB_NAME_MAX 24	 /* with its NUL; letters, digits */
#define LAB_NODES_MAX 64 /* servers, clients, the third party */
#define LAB_DIR_MAX 128
#define LAB_PATH_MAX 256
#define LAB_DEFAULT_NAME "lab"
#define LAB_DEFAULT_ROOT "/run/limpet/lab"

enum lab_role { LAB_SERVER, LAB_CLIENT, LAB_OTHER };

/* A node of the lab: a network namespace. */
struct lab_node {
	enum lab_role role;
	char name[8];	  /* "s1", "c1"; "x1" is the third party of the network hogs */
	char netns[48];	  /* "limpet-lab-s1" */
	char address[16]; /* "10.91.1.1" on eth0; clients 10.91.2.N, third party 10.91.3.1 */
	char loop[24];	  /* servers: "/dev/loop3" if it exists, else "" */
	char cgroup[128]; /* servers: path of the CPU control group, "" if there is none */
};

struct lab_config {
	char name[LAB_NAME_MAX];
	char fs[16];		  /* name of its struct fs */
	char prefix[LAB_DIR_MAX]; /* where the file system is installed; "": in $PATH */
	unsigned n_servers, n_clients;
	uint64_t seed;
	uint64_t disk_bytes;	  /* first partition, for the file system */
	uint64_t hog_bytes;	  /* second partition, unused */
	uint64_t bandwidth_bytes; /* per second, of the disk's media */
	uint32_t seek_min_us, seek_max_us;
	uint32_t link_kbit;   /* 100000 */
	uint32_t cpu_percent; /* of one CPU that a server may use; 0: no limit */
};

struct lab {
	struct lab_config config;
	char dir[LAB_DIR_MAX];
	unsigned n_nodes;
	struct lab_node nodes[LAB_NODES_MAX]; /* servers, then clients, then the third party */
	bool complete;			      /* lab_up() has finished */
};

/* Set the defaults: 6 servers, 6 clients, gluster, 30 MB/s, 2 to 6 ms, 100 Mbit/s. */
void lab_config_init(struct lab_config *c);

/* Names, addresses and paths that follow from a configuration; creates nothing. */
int lab_init(struct lab *lab, const struct lab_config *c, struct lp_err *err);

/* Append a node, number `number` (from 1) of its role. NULL if that is impossible. */
struct lab_node *lab_add_node(struct lab *lab, enum lab_role role, unsigned number);

/* Check whether a lab can run here: as root, with all programs and kernel features. The error is
 * one sentence. */
int lab_check(const struct lab_config *c, struct lp_err *err);

/* Progress for people: "disk of s3", 0.4 done. May be NULL. */
typedef void lab_tell(void *ctx, const char *what, double done);

/* Build the lab. If something fails, or if SIGINT, SIGTERM or SIGHUP arrives (-EINTR; the signal is
 * delivered when this returns), the lab is removed again. -EEXIST if it already exists. */
int lab_up(struct lab *lab, lab_tell *tell, void *ctx, struct lp_err *err);

/* Remove every trace of the lab of this name, in any state. 0 if there is none. */
int lab_down(const char *name, struct lp_err *err);

/* Load an existing lab, which may be half built. -ENOENT if there is none with this name. */
int lab_load(const char *name, struct lab *ret, struct lp_err *err);

/* Describe objects that have the lab's name but were not created by it, so that they were not
 * removed: one sentence, or "". Print it after lab_down(). */
void lab_foreign(const char *name, char *buf, unsigned size);

/* The names of existing labs, sorted; the caller frees each and the array. */
int lab_list(char ***ret_names, unsigned *ret_n, struct lp_err *err);

/* Call `fn` for each of them. It continues after a failure, and returns its error. */
typedef int lab_fn(const char *name, void *ctx, struct lp_err *err);
int lab_each(lab_fn *fn, void *ctx, unsigned *ret_n, struct lp_err *err);

/* The directory of all labs. An error if $LIMPET_LAB_DIR is set but invalid. */
int lab_root(char buf[LAB_DIR_MAX], struct lp_err *err);

/* -EINVAL, with the names of all file systems, and the one that was probably meant. */
int lab_fs_unknown(const char *name, struct lp_err *err);

/* Can the disk of a server have this size? -EINVAL if not. */
int lab_disk_check(uint64_t bytes, struct lp_err *err);

/* Set the prefix of a file system, which must be an absolute path that is not too long. */
int lab_prefix_set(struct lab_config *c, const char *prefix, struct lp_err *err);

/* Can a lab have this name? -EINVAL if not. */
int lab_name_check(const char *name, struct lp_err *err);

/* The node with this name ("s3"); NULL if there is none. */
const struct lab_node *lab_node(const struct lab *lab, const char *name);
/* The i-th (from 0) server or client. */
const struct lab_node *lab_server(const struct lab *lab, unsigned i);
const struct lab_node *lab_client(const struct lab *lab, unsigned i);

/* DIR + the formatted rest: lab_path(lab, buf, "run/%s-disk.pid", node->name). Returns `buf`. */
char *lab_path(const struct lab *lab, char buf[LAB_PATH_MAX], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The health of a node, for `lab status`. */
struct lab_health {
	bool netns, disk, brick, fs, work, record; /* does it exist, does it run */
	bool well;	  /* nothing is missing; a workload and a recording are optional */
	char faults[128]; /* active ones, separated by blanks */
};
void lab_health(const struct lab *lab, const struct lab_node *node, struct lab_health *ret);

#endif
