/* The built-in plans. */
#include "lab/plan.h"
#include <stddef.h>

/* Strong faults and short phases, so that it takes about five minutes and does not fail by chance;
 * a cluster small enough for two slow cores. */
static const char smoke[] = "servers 5\n"
			    "clients 4\n"
			    "phases 4s 10s 70s 3s\n"
			    "run ddw none,slow-disk:8,receive-pktloss:20\n";

static const char quick[] = "phases 10s 60s 120s 60s\n"
			    "run ddw none,disk-hog,disk-busy,receive-pktloss,send-pktloss\n"
			    "run ddr none,disk-hog,disk-busy,receive-pktloss,read-network-hog\n";

static const char paper[] =
	"phases 15s 120s 300s 180s\n"
	"repeat 10\n"
	"train ddr,ddw,postmark\n"
	"run ddr,ddw,iozoner,iozonew,postmark none\n"
	"run ddr,ddw,iozoner,iozonew,postmark disk-hog,disk-busy,write-network-hog,"
	"read-network-hog,receive-pktloss,send-pktloss\n";

static const char campaign[] =
	"phases 4s 10s 150s 3s\n"
	"train ddw,ddr,postmark\n"
	"phases 4s 10s 76s 3s\n"
	"repeat 2\n"
	"run ddw,ddr,iozonew,iozoner,postmark,mixed none\n"
	"run ddw,ddr,iozonew,iozoner,postmark,mixed disk-hog,disk-busy,write-network-hog,"
	"read-network-hog,receive-pktloss,send-pktloss\n"
	"run ddw,ddr slow-disk:2,slow-disk:4,stall-disk,slow-link,cpu-hog,pause\n"
	"run ddw,ddr disk-busy+receive-pktloss,disk-hog+send-pktloss\n";

/* The faults of the syscall paper that are not about speed. The paper ends a hang after 30 s, so a
 * fault that may hang lasts longer; smaller disks are full sooner. PostMark makes small files,
 * ddnew uses up space, ddw writes to existing large files. */
static const char errors[] = "servers 4\n"
			     "clients 3\n"
			     "disk 512M\n"
			     "trace summary\n"
			     "repeat 5\n"
			     "phases 3s 4s 10s 1s\n"
			     "run ddw err-files,err-remount,err-fsize\n"
			     "run ddnew err-space\n"
			     "phases 10s 4s 12s 1s\n"
			     "run postmark err-inodes\n"
			     "phases 3s 4s 42s 1s\n"
			     "run postmark err-vmsize\n"
			     "phases 3s 4s 10s 1s\n"
			     "run postmark err-remount\n"
			     "phases 3s 4s 42s 1s\n"
			     "run ddw pause\n"
			     "phases 3s 4s 25s 1s\n"
			     "repeat 2\n"
			     "run ddw,ddnew,postmark none\n";

/* The six faults of the behaviour paper and its control. Windows are a minute long and overlap by
 * half, so a fault must last for two and a half minutes. There are fewer servers than usual,
 * because sampling functions takes CPU time as well. */
static const char behaviour[] =
	"servers 5\n"
	"clients 4\n"
	"functions both\n"
	"phases 10s 60s 180s 1s\n"
	"train ddr,ddw,postmark\n"
	"phases 10s 60s 150s 30s\n"
	"repeat 2\n"
	"run ddr,ddw,iozoner,iozonew,postmark none\n"
	"run ddr,ddw,iozoner,iozonew,postmark disk-hog,disk-busy,write-network-hog,"
	"read-network-hog,receive-pktloss,send-pktloss\n";

const struct plan_text plan_texts[] = {
	{"smoke", "a control, a slow disk and lost packets, each a minute and a half", smoke},
	{"quick", "ten experiments of four minutes: disks and loss, reading and writing", quick},
	{"campaign", "every workload and fault twice; docs/accuracy.md has the results", campaign},
	{"errors", "faults that give clients errors, with system calls traced", errors},
	{"behaviour", "six faults on five workloads, twice each, with functions of the servers",
		behaviour},
	{"paper", "the papers' experiments: five workloads, six faults, ten times each", paper},
	{NULL, NULL, NULL},
};
