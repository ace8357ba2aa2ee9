/* The causes, in an operator's words. docs/causes.md describes each. */
#include "explain/cause.h"

#include "base/array.h"
#include <stddef.h>
#include <string.h>

const struct cause cause_disk_hog = {"disk-hog", "does much more work than its peers, and is slow",
	"Find the process or job that issues the extra work (iotop, pidstat -d, the file system's "
	"job statistics): a "
	"backup, a scrub, a rebuild or a runaway job."};
const struct cause cause_disk_busy = {"disk-busy", "is slow without more work to explain it",
	"Look at the drive and what is around it (smartctl -a, dmesg, the enclosure's and the "
	"controller's log, a rebuild in progress), and replace it if it has errors."};
const struct cause cause_disk_errors = {"disk-errors", "has errors where its peers have none",
	"Read the errors in dmesg and smartctl -a, check cabling and enclosure, and replace the "
	"drive if errors continue."};
const struct cause cause_network_hog = {"network-hog", "carries much more traffic than its peers",
	"Find whose traffic it is (ss -tip, iftop, the switch's flow statistics) and move or "
	"limit it."};
const struct cause cause_packet_loss = {"packet-loss", "loses packets on the way",
	"Compare the error and drop counters of both ends (ethtool -S, ip -s link, the switch "
	"port), then reseat or replace cable, transceiver or port."};
const struct cause cause_cpu_hog = {"cpu-hog", "has too little CPU for its work",
	"Find what uses the processors (top, pidstat -u, systemd-cgtop): another job on the "
	"server, "
	"a "
	"runaway process, or a limit (cpu.max) that is too tight."};
const struct cause cause_server_hung = {"server-hung", "does not read what is sent to it",
	"Look at the server process: is it stopped, stuck or out of threads (ps -o stat,wchan, "
	"cat /proc/PID/stack, its log)? Restart it if it does not recover."};
const struct cause cause_bad_link = {"bad-link", "has errors on its link",
	"Look at ethtool -S and the switch port's counters, and replace cable, transceiver or "
	"adapter."};
const struct cause cause_slow_link = {"slow-link", "takes longer over the network",
	"Check the negotiated speed (ethtool), the route and the switch ports on the way."};
const struct cause cause_slow_network = {"slow-network",
	"takes longer to get its messages over the network",
	"Record the server and its clients as well (limpet record): interfaces and connections "
	"distinguish a slow link, lost packets and other traffic."};
const struct cause cause_lost_path = {"lost-path", "has no data or no work where its peers do",
	"Check that the path is up (multipath -ll, the controller's log, the file system's list "
	"of servers and targets) and bring it back."};
const struct cause cause_server_down = {"server-down", "delivers nothing at all",
	"Check that the server runs and can be reached (console, power, network), and that its "
	"recorder does (systemctl status limpet-record)."};
const struct cause cause_unknown = {"unknown", "differs from its peers",
	"Compare the component with a peer in these metrics, and look for changes at the time it "
	"began."};
const struct cause cause_imbalanced = {"imbalanced", "has more load, and behaves as that explains",
	"No fault; if it matters, spread the load (striping, placement, balance of the targets)."};
const struct cause cause_less_idle = {"less-idle",
	"is busy all the time while its peers are idle now and then, and is not slower",
	"No fault; if it matters, spread the load (striping, placement, balance of the targets)."};
const struct cause cause_faster = {
	"faster", "is faster than its peers", "No fault; newer or emptier devices often are."};
const struct cause cause_less_loaded = {"less-loaded", "has less to do than its peers",
	"No fault; check placement and striping if all should work alike."};
const struct cause cause_server_workload = {"server-workload",
	"has load that its server itself issues on all its devices",
	"No fault of the device; if it is not wanted, find the job on that server."};

const struct cause cause_propagated_error = {"propagated-error", "passes errors on to its clients",
	"Read what failed on the server, not at the client: its limits (prlimit -p PID), its file "
	"systems (df, df -i, mount) and dmesg."};
const struct cause cause_crash = {"crash", "died",
	"Find out why it ended (its log, coredumpctl, journalctl -u, dmesg) before you start it "
	"again."};

const struct cause cause_resource_exhausted = {"resource-exhausted",
	"has calls that fail because a resource ran out or broke",
	"Look at the limits of the process (prlimit -p PID), at its file systems (df, df -i, "
	"mount) "
	"and at dmesg."};

const struct cause cause_rogue_process = {"rogue-process", "runs a program that its peers do not",
	"Find out what started it (ps -ef, systemctl status PID, the crontabs), and whether it "
	"belongs there."};
const struct cause cause_behaviour = {"behaviour", "spends its time differently from its peers",
	"Compare these functions with a peer's (limpet show --functions), and find out what they "
	"wait for: the disks, the network, or each other."};

const struct cause *const causes[] = {&cause_disk_hog, &cause_disk_busy, &cause_disk_errors,
	&cause_network_hog, &cause_packet_loss, &cause_cpu_hog, &cause_server_hung, &cause_bad_link,
	&cause_slow_link, &cause_slow_network, &cause_lost_path, &cause_server_down, &cause_unknown,
	&cause_imbalanced, &cause_less_idle, &cause_faster, &cause_less_loaded,
	&cause_server_workload, &cause_propagated_error, &cause_crash, &cause_resource_exhausted,
	&cause_rogue_process, &cause_behaviour, NULL};

const struct cause *cause_find(const char *name)
{
	for (const struct cause *const *c = causes; *c; c++) {
		if (name && !strcmp((*c)->name, name))
			return *c;
	}
	return &cause_unknown;
}

bool cause_is_network(const char *cause)
{
	static const struct cause *const network[] = {&cause_network_hog, &cause_packet_loss,
		&cause_bad_link, &cause_slow_link, &cause_slow_network};

	for (size_t i = 0; cause && i < ARRAY_SIZE(network); i++) {
		if (!strcmp(network[i]->name, cause))
			return true;
	}
	return false;
}

bool cause_is_absence(const char *cause)
{
	return !strcmp(cause, cause_lost_path.name) || !strcmp(cause, cause_server_down.name);
}
