/* The operator's steps for an incident: commands with the names of the real devices, and what to
 * check. */
#include "base/array.h"
#include "explain/behaviour.h"
#include "explain/cause.h"
#include "model/naming.h"
#include "report/incident.h"
#include "report/verdict_facts.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define INTERFACES_MAX 2 /* named in commands; if there are more, the operator chooses */

struct making {
	const struct lp_verdict *v;
	const struct lp_incident *in;
	const struct lp_identity *first; /* component; may be NULL */
	const struct lp_suspect *lead;	 /* may be NULL */
	struct incident_steps *to;
};

static void add_command(struct making *m, const char *format, const char *name)
{
	struct strbuf *sb = &m->to->commands, quoted = {0};

	if (sb->len)
		strbuf_putc(sb, '\n');
	naming_add_quoted(&quoted, name ? name : "");
	for (; *format; format++) {
		if (*format == '@' && name && quoted.text)
			strbuf_puts(sb, quoted.text);
		else
			strbuf_putc(sb, *format);
	}
	sb->failed |= quoted.failed;
	strbuf_release(&quoted);
}

static void add_text(struct making *m, const char *text)
{
	strbuf_printf(&m->to->text, "%s%s", m->to->text.len ? " " : "", text);
}

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Commands for a block device, by the kind of its name. '@' is the name. */
static const struct {
	const char *start;	 /* of the name */
	const char *commands[3]; /* up to the first NULL */
	const char *text;
} devices[] = {
	{"sd", {"smartctl -a /dev/@", "dmesg -T | grep -w @"},
		"Errors there: replace the drive. None: look at its enclosure, cable and "
		"controller, and for a rebuild."},
	{"nvme", {"smartctl -a /dev/@", "dmesg -T | grep -w @"},
		"Errors or wear there: replace the drive. None: look at its temperature, its PCIe "
		"link and its firmware."},
	{"dm-", {"multipath -ll", "dmsetup deps -o devname /dev/@", "dmesg -T | tail -50"},
		"A failed path: bring it back. Otherwise look at the devices underneath."},
	{"md", {"cat /proc/mdstat", "mdadm --detail /dev/@", "dmesg -T | grep -w @"},
		"A rebuild or check: wait, or slow it down (sync_speed_max). A failed member: "
		"replace it."},
	{"loop", {"losetup -l /dev/@", "dmesg -T | grep -w @"},
		"This is a loop device: look at the disk that holds its file."},
	{"vd", {"dmesg -T | grep -w @"},
		"This is a virtual disk: look at the host, or at the volume's limits."},
	{"xvd", {"dmesg -T | grep -w @"},
		"This is a virtual disk: look at the volume and its limits at the provider."},
	{"zd", {"zpool status -v", "zpool iostat -v 5 3"},
		"This is a ZFS volume: look at the disks of its pool."},
	{"rbd", {"ceph -s", "ceph osd perf"}, "This is a Ceph volume: look at the OSDs behind it."},
};

static void add_device(struct making *m)
{
	const char *name = m->first ? m->first->name : "";

	for (size_t i = 0; m->first && !strcmp(m->first->kind, "disk") && i < ARRAY_SIZE(devices);
		i++) {
		if (!begins(name, devices[i].start))
			continue;
		for (size_t c = 0; c < ARRAY_SIZE(devices[i].commands) && devices[i].commands[c];
			c++)
			add_command(m, devices[i].commands[c], name);
		add_text(m, devices[i].text);
		return;
	}
	add_text(m,
		"Look at the device and what is around it: its error counters, its enclosure, "
		"its controller's log, a rebuild. Replace it if it has errors.");
}

/* The network interfaces of the incident's server: adds the command for up to two of them. */
static void add_interfaces(struct making *m, const char *format)
{
	const char *observer = m->to->host;
	uint32_t n = 0;

	for (uint32_t c = 0; c < m->v->n_components; c++) {
		const struct lp_identity *id = m->v->components[c];

		if (strcmp(id->kind, "net") != 0 || strcmp(id->observer, observer) != 0 ||
			!strcmp(id->name, "lo"))
			continue;
		if (n++ < INTERFACES_MAX)
			add_command(m, format, id->name);
	}
	if (!n)
		add_command(m, format, "eth0");
}

/* Is it about a part that several components of one kind have in common? */
static bool is_shared(const struct making *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->in->n_components; i++)
		n += !strcmp(m->v->components[m->in->components[i]]->kind, m->first->kind);
	return n > 1 && strcmp(m->in->part, m->first->text) != 0;
}

static void do_disk(struct making *m)
{
	if (!m->first || !is_shared(m)) {
		add_device(m);
		return;
	}
	if (m->to->host[0])
		add_command(m, "dmesg -T | tail -50", NULL);
	add_text(m,
		"Look at what these components share: controller, cables, enclosure, power, "
		"firmware, what else runs there, and what was changed at that time.");
}

static void do_disk_hog(struct making *m)
{
	add_command(m, "iotop -obtqn 3", NULL);
	add_command(m, "pidstat -d 5 3", NULL);
	add_text(m,
		"Find the process that issues the extra I/O: a backup, a scrub, a rebuild, a "
		"runaway job. Stop it or limit it. Nothing there: ask the file system which "
		"client's job it is.");
}

static void do_network_hog(struct making *m)
{
	add_command(m, "ss -tinp | grep -B1 -E 'bytes_(sent|received)'", NULL);
	add_interfaces(m, "iftop -nt -s 10 -i @");
	add_text(m, "Find whose traffic it is, and move it or limit it.");
}

static void do_packet_loss(struct making *m)
{
	add_interfaces(m, "ethtool -S @ | grep -iE 'err|drop|crc|discard'");
	add_interfaces(m, "ip -s link show @");
	add_text(m,
		"Compare with the counters of the switch port. Errors at either end: reseat or "
		"replace the cable, then the transceiver, then the port. None: look for a "
		"full queue on the way.");
}

static void do_slow_link(struct making *m)
{
	add_interfaces(m, "ethtool @ | grep -E 'Speed|Duplex|Link'");
	add_interfaces(m, "tc -s qdisc show dev @");
	add_text(m,
		"A lower speed than its peers': reseat or replace the cable or transceiver. "
		"The same speed: look at the route and the switch ports on the way.");
}

static void do_bad_link(struct making *m)
{
	add_interfaces(m, "ethtool -S @ | grep -iE 'err|crc|carrier'");
	add_text(m,
		"Replace the cable, the transceiver or the adapter, and look at the switch "
		"port.");
}

static void do_slow_network(struct making *m)
{
	add_text(m,
		"Record the server and its clients as well (limpet record): their interfaces "
		"and connections separate a slow link, lost packets and other traffic.");
}

static void do_cpu(struct making *m)
{
	add_command(m, "top -b -n 1 | head -20", NULL);
	add_command(m, "systemd-cgtop -n 1", NULL);
	add_text(m,
		"Find what uses the processors: another job on the server, a runaway "
		"process, or a limit (cpu.max) that is too tight.");
}

/* A trace knows which program hangs. */
static void do_hung(struct making *m)
{
	if (m->first && !strcmp(m->first->kind, "sys"))
		add_command(m, "ps -L -o pid,lwp,stat,wchan:24,etime,comm -C @", m->first->name);
	else
		add_command(m, "ps -eo pid,stat,wchan:24,etime,comm | awk '$2 ~ /^[DT]/'", NULL);
	add_command(m, "dmesg -T | grep -i 'blocked for more than'", NULL);
	add_text(m,
		"T: the process is stopped, continue it (kill -CONT PID). D: it waits for the "
		"device or lock in wchan. Neither: read its log, and restart it if it does not "
		"recover.");
}

static void do_down(struct making *m)
{
	char host[sizeof(m->to->host)];

	snprintf(host, sizeof(host), "%s", m->to->host);
	m->to->host[0] = '\0'; /* no command can run there */
	add_command(m, "ping -c 3 @", host);
	add_command(m, "ssh @ systemctl status limpet-record", host);
	add_text(m,
		"No answer: look at its console, power and network. It answers: start its "
		"recorder.");
}

static void do_absent(struct making *m)
{
	if (m->first && !strcmp(m->first->kind, "disk")) {
		add_command(m, "lsblk /dev/@", m->first->name);
		add_command(m, "dmesg -T | grep -w @", m->first->name);
		add_command(m, "multipath -ll", NULL);
	} else if (m->first && !strcmp(m->first->kind, "net")) {
		add_command(m, "ip -s link show @", m->first->name);
	}
	add_text(m,
		"Look whether it is still there and in use: the path, the controller's log, the "
		"file system's list of servers and targets. Bring it back.");
}

static void do_rogue(struct making *m)
{
	const struct lp_process *p = m->lead ? behaviour_process(m->v, m->lead) : NULL;
	char pid[16];

	if (p) {
		snprintf(pid, sizeof(pid), "%" PRId32, p->pid);
		add_command(m, "ps -fp @", pid);
		add_command(m, "systemctl status @", pid);
	} else {
		add_command(m, "ps -eo pid,user,pcpu,etime,args --sort=-pcpu | head", NULL);
	}
	add_text(m, "Find out what started it, and whether it belongs there.");
}

static const char *advice_of(const struct making *m)
{
	return m->lead && m->lead->advice ? m->lead->advice : m->in->advice;
}

static void do_as_advised(struct making *m)
{
	const char *advice = advice_of(m);

	if (advice)
		add_text(m, advice);
}

/* The resource that a program ran out of, by the error of its calls. '@' is the process, '#' the
 * directory of the file. */
static const struct {
	const char *result, *commands[2], *text;
} shortages[] = {
	{"EMFILE", {"prlimit --nofile -p @", "ls /proc/@/fd | wc -l"},
		"The process has reached its limit of open files. Raise it (LimitNOFILE= in its "
		"unit, ulimit -n), or find what it does not close."},
	{"ENFILE", {"cat /proc/sys/fs/file-nr"},
		"The machine has reached its limit of open files. Raise fs.file-max (sysctl)."},
	{"ENOSPC", {"df -h #", "df -i #"},
		"The file system has no space or no inodes left. Make room, or enlarge it."},
	{"EDQUOT", {"df -h #", "repquota -a"}, "A quota is used up. Make room, or raise it."},
	{"EROFS", {"df -h #", "dmesg -T | grep -iE 'error|remount' | tail"},
		"The file system is read-only; the kernel remounts it so after errors. Repair the "
		"disk or the file system before you remount it."},
	{"EIO", {"df -h #", "dmesg -T | tail -50"},
		"The disk under this file system returns errors. Look at it (smartctl -a), and "
		"replace it."},
	{"EFBIG", {"prlimit --fsize -p @", "df -hT #"},
		"A file has reached the size limit. Raise it (LimitFSIZE= in its unit, ulimit -f), "
		"or find out how large files may be on this file system."},
	{"ENOMEM", {"prlimit --as --data -p @", "free -m"},
		"The process gets no more memory. Raise its limits (ulimit -v, memory.max of its "
		"control group), or find what uses the memory."},
	{"ENOBUFS", {"ss -m", "sysctl net.core.rmem_max net.core.wmem_max"},
		"The kernel has no memory left for sockets. Find which connections use it."},
};

/* The command for the process and the directory of a call; without a directory, the command covers
 * all file systems. */
static void add_call_command(struct making *m, const char *format, const struct lp_traced_call *c)
{
	const char *slash = c->file && c->file[0] == '/' ? strrchr(c->file, '/') : NULL;
	struct strbuf sb = {0}, directory = {0};

	if (slash)
		strbuf_add(&directory, c->file, slash > c->file ? (size_t)(slash - c->file) : 1);
	for (; *format; format++) {
		if (*format == '@')
			strbuf_printf(&sb, "%" PRId32, c->pid);
		else if (*format == '#' && directory.text)
			naming_add_quoted(&sb, directory.text);
		else if (strcmp(format, " #") != 0 || directory.text)
			strbuf_putc(&sb, *format == '#' ? '/' : *format);
		else
			break;
	}
	add_command(m, sb.text ? sb.text : "", NULL);
	m->to->commands.failed |= sb.failed || directory.failed;
	strbuf_release(&sb);
	strbuf_release(&directory);
}

/* The first call on the server that failed because something ran out, and the row of
 * `shortages`. */
static const struct lp_traced_call *find_shortage(const struct making *m, size_t *ret_row)
{
	for (uint32_t i = 0; m->lead && i < m->lead->n_calls; i++) {
		const struct lp_traced_call *c = &m->lead->calls[i];

		for (size_t k = 0; c->result && k < ARRAY_SIZE(shortages); k++) {
			if (!strcmp(c->result, shortages[k].result) &&
				!strcmp(c->observer, m->to->host)) {
				*ret_row = k;
				return c;
			}
		}
	}
	return NULL;
}

/* Add the steps for an error that a server passes on, or for a shortage. */
static void do_shortage(struct making *m)
{
	size_t row = 0;
	const struct lp_traced_call *c = find_shortage(m, &row);

	if (!c) {
		do_as_advised(m);
		return;
	}
	for (size_t n = 0; n < ARRAY_SIZE(shortages->commands) && shortages[row].commands[n]; n++)
		add_call_command(m, shortages[row].commands[n], c);
	add_text(m, shortages[row].text);
}

/* Say where the system noted why a program ended. */
static void do_crash(struct making *m)
{
	const char *advice = advice_of(m), *colon = advice ? strstr(advice, ": ") : NULL;
	size_t row = 0, at = m->to->text.len;

	if (m->first && !strcmp(m->first->kind, "sys")) {
		add_command(m, "coredumpctl info @", m->first->name);
		add_command(m, "dmesg -T | grep -w @", m->first->name);
	}
	if (find_shortage(m, &row)) {
		strbuf_printf(
			&m->to->text, "Its last calls failed with %s.", shortages[row].result);
		add_text(m, shortages[row].text);
	} else if (advice) {
		/* The advice may begin with a process, which is gone: leave that out. */
		add_text(m, begins(advice, "On ") && colon ? colon + strlen(": ") : advice);
		if (m->to->text.len > at)
			m->to->text.text[at] = (char)toupper((unsigned char)m->to->text.text[at]);
	}
}

static const struct {
	const char *cause;
	void (*fill)(struct making *m);
} remedies[] = {
	{"disk-busy", do_disk},
	{"disk-errors", do_disk},
	{"disk-hog", do_disk_hog},
	{"network-hog", do_network_hog},
	{"packet-loss", do_packet_loss},
	{"slow-link", do_slow_link},
	{"slow-network", do_slow_network},
	{"bad-link", do_bad_link},
	{"cpu-hog", do_cpu},
	{"server-down", do_down},
	{"lost-path", do_absent},
	{"rogue-process", do_rogue},
	{"propagated-error", do_shortage},
	{"resource-exhausted", do_shortage},
	{"crash", do_crash},
};

/* Does it hang, without a known reason? A trace that shows the reason gives advice about it. */
static bool is_hung(const struct making *m)
{
	return m->in->cause && !strcmp(m->in->cause, cause_server_hung.name) &&
		!(m->lead && m->lead->advice && m->first && !strcmp(m->first->kind, "sys") &&
			strcmp(m->lead->advice, cause_server_hung.advice) != 0);
}

void incident_steps(
	const struct lp_verdict *v, const struct lp_incident *in, struct incident_steps *ret)
{
	struct making m = {.v = v,
		.in = in,
		.first = incident_component(v, in),
		.lead = incident_lead(v, in),
		.to = ret};

	snprintf(ret->host, sizeof(ret->host), "%s", incident_observer(v, in));
	if (is_hung(&m)) {
		do_hung(&m);
		return;
	}
	for (size_t i = 0; in->cause && i < ARRAY_SIZE(remedies); i++) {
		if (!strcmp(in->cause, remedies[i].cause)) {
			remedies[i].fill(&m);
			return;
		}
	}
	do_as_advised(&m);
}

void incident_steps_release(struct incident_steps *s)
{
	strbuf_release(&s->commands);
	strbuf_release(&s->text);
}
