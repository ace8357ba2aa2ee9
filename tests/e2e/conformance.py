"""Compares the events that a tracer delivered for the program tests/trace/conform with what that program did.

The program writes a line for each of its actions into a slot of a file:
  begin PID TID PART, end PID TID PART      the thread's log is complete between these
  call PID TID NAME RESULT TEXT ARGS...     RESULT, TEXT: "*" anything; TEXT "=HEX", "#LENGTH"
  signal PID TID NUMBER CODE SENDER
  async PID TID NAME RESULT * ARGS...       completed by AIO or io_uring
  fork PID CHILD, thread PID TID, exit PID STATUS, exec PID PATH, fatal PID SIGNAL, ports PID A B
Marks of a part are calls, too: access("/limpet-begin/PART") and access("/limpet-end/PART").
"""
import collections
import struct

SLOT = 1024
COMPAT, COARSE, RESTART, CUT = 1, 2, 4, 8
# In these parts all reads and writes are on files of one kind.
KINDS = {"storage": "storage", "tcp": "tcp", "tcp6": "tcp", "pipe": "pipe", "unix": "socket",
         "datagram": "socket", "aio": "storage", "eintr": "pipe", "restart": "pipe",
         "thread": "storage", "inherit": "storage"}
MOVES = {"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2",
         "pwritev2", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg"}
RIGHTS, FAMILIES = "recvmsg", {2: 4, 10: 16}

Event = collections.namedtuple(
    "Event", "what seq start dur pid tid nr name flags file ret args text")


def notes_of(path):
    with open(path, "rb") as file:
        data = file.read()
    n = int.from_bytes(data[:4], "little")
    return [data[SLOT * (i + 1):SLOT * (i + 2)].split(b"\0")[0].decode().split(" ")
            for i in range(n)]


def mark_of(event):
    """("begin", PART) if the call is a mark."""
    if event.what == "call" and event.name == "access" and event.text.startswith(b"/limpet-"):
        return tuple(event.text.decode()[len("/limpet-"):].split("/"))
    return None


def parts_of_events(events):
    """{(tid, part): [event]} in the order of completion."""
    parts, within = collections.defaultdict(list), {}
    for event in events:
        mark = mark_of(event)
        if mark and mark[0] == "begin":
            within[event.tid] = (event.tid, mark[1])
            parts[within[event.tid]] = []
        elif mark:
            within.pop(event.tid, None)
        elif event.tid in within and event.what in ("call", "signal", "pending"):
            parts[within[event.tid]].append(event)
    return parts


def parts_of_notes(notes):
    """{(tid, part): [note]}; whether the part has an end is in the second."""
    parts, within, ended = collections.defaultdict(list), {}, set()
    for note in notes:
        if note[0] in ("begin", "end", "call", "signal"):
            tid = int(note[2])
        if note[0] == "begin":
            within[tid] = (tid, note[3])
            parts[within[tid]] = []
        elif note[0] == "end":
            ended.add(within.pop(tid))
        elif note[0] in ("call", "signal") and tid in within:
            parts[within[tid]].append(note)
    return parts, ended


def text_differs(want, text, flags):
    if want == "*":
        return False
    if want[0] == "#":
        return len(text) != int(want[1:]) and not (flags & CUT and len(text) < int(want[1:]))
    return text.hex() != want[1:]


def difference(note, event):
    """The difference between the event and the note, or None if they match."""
    if note[0] == "signal":
        number, code, sender = (int(x) for x in note[3:6])
        if (event.what, event.nr, event.ret) != ("signal", number, code):
            return f"signal {number} code {code}"
        return f"sender {sender}" if sender and event.args[0] != sender else None
    name, ret, text, args = note[3], note[4], note[5], [int(a) for a in note[6:]]
    if (event.what, event.name) != ("call", name.removeprefix("32:")):
        return f"call {name}"
    if bool(event.flags & COMPAT) != name.startswith("32:"):
        return "flag of a 32-bit call"
    if ret != "*" and event.ret != int(ret):
        return f"result {ret}"
    if bool(event.flags & RESTART) != (ret in ("-512", "-514", "-516")):
        return "flag of a restart"
    if text_differs(text, event.text, event.flags):
        return f"text {text}"
    mask = 0xffffffff if event.flags & COMPAT else 0xffffffffffffffff
    if [a & mask for a in event.args[:len(args)]] != [a & mask for a in args]:
        return f"arguments {args}"
    return None


def compare_part(key, notes, events, whole):
    for i, note in enumerate(notes):
        if i >= len(events):
            yield f"part {key}: nothing was logged for {' '.join(note)}"
            return
        wrong = difference(note, events[i])
        if wrong:
            yield f"part {key}: {' '.join(note)}: expected {wrong}, have {events[i]}"
            return
    if whole and len(events) > len(notes):
        yield f"part {key}: what was not done: {events[len(notes)]}"


def compare_parts(notes, events):
    want, ended = parts_of_notes(notes)
    have = parts_of_events(events)
    for key, part in want.items():
        if key not in have:
            yield f"part {key} was not logged"
            continue
        yield from compare_part(key, part, have[key], key in ended)
        kind = KINDS.get(key[1])
        for event in have[key]:
            if kind and event.name in MOVES and event.ret >= 0 and event.file != kind:
                yield f"part {key}: expected a file of kind {kind}, have {event}"


def compare_processes(notes, events):
    """Births, deaths, programs."""
    made = {(e.pid, e.ret) for e in events if e.what == "fork"}
    ends = {e.pid: e for e in events if e.what == "exit"}
    programs = {(e.pid, e.text.decode()) for e in events if e.what == "exec"}
    for note in notes:
        if note[0] in ("fork", "thread") and (int(note[1]), int(note[2])) not in made:
            yield f"not logged: {' '.join(note)}"
        if note[0] == "exec" and (int(note[1]), note[2]) not in programs:
            yield f"not logged: {' '.join(note)}"
        if note[0] == "exit":
            end, status = ends.get(int(note[1])), int(note[2])
            if not end or end.ret & ~0x80 != status or end.nr != status & 0x7f:
                yield f"{' '.join(note)}: have {end}"
        if note[0] == "fatal" and not any(
                e.what == "signal" and e.pid == int(note[1]) and e.nr == int(note[2])
                for e in events):
            yield f"not logged: {' '.join(note)}"


def compare_async(notes, events, want_uring):
    """The operations that AIO and io_uring completed."""
    done = [(e.pid, e.name, e.ret, e.args[0], e.args[2]) for e in events if e.what == "async"]
    missing, within = collections.defaultdict(list), None
    want = collections.Counter()
    for note in notes:
        within = note[3] if note[0] == "begin" else within
        if note[0] != "async":
            continue
        want[within] += 1
        key = (int(note[1]), note[3], int(note[4]), int(note[6]), int(note[8]))
        if key in done:
            done.remove(key)
        else:
            missing[within].append(f"not logged: {' '.join(note)}; have {done}")
    yield from missing["aio"]
    # A kernel may be unable to show io_uring, but then it shows nothing of it.
    if want_uring and len(missing["uring"]) < want["uring"]:
        yield from missing["uring"]


def endpoints_of(text):
    """(family, local address, local port, remote address, remote port), None: not connected."""
    if len(text) != 40:
        return None
    family, = struct.unpack_from("=H", text)
    local, remote = struct.unpack_from("!HH", text, 2)
    size = FAMILIES.get(family, 0)
    return (family, text[8:8 + size], local, text[24:24 + size], remote) if size else None


def compare_endpoints(notes, events):
    """Which ends are connected, in the part "tcp"."""
    loopback = bytes([127, 0, 0, 1])
    for note in (n for n in notes if n[0] == "ports"):
        server, client = int(note[2]), int(note[3])
        part = [e for key, es in parts_of_events(events).items() for e in es if key[1] == "tcp"]
        connected = endpoints_of([e for e in part if e.name == "connect"][0].text)
        accepted = endpoints_of([e for e in part if e.name == "accept4"][0].text)
        if connected != (2, loopback, client, loopback, server):
            yield f"connect: {connected} with ports {client}, {server}"
        if accepted != (2, loopback, server, loopback, client):
            yield f"accept: {accepted} with ports {server}, {client}"


def compare_order(events):
    """Sequence numbers follow the starts of calls, and calls of a thread do not overlap."""
    calls = [e for e in events if e.what == "call"]
    numbers = [e.seq for e in calls]
    if len(set(numbers)) != len(numbers):
        yield "two calls have the same sequence number"
    last = {}
    for event in calls:
        before = last.get(event.tid)
        if event.dur < 0:
            yield f"negative duration: {event}"
        # exec in a thread takes over the id of another one, whose call was in progress.
        if before and event.name != "execve" and (
                event.seq <= before.seq or event.start < before.start + before.dur):
            yield f"{event} before the end of {before}"
        last[event.tid] = event


# The effect of a successful call on the table of descriptors: the change, and the descriptor.
CHANGES = {"open": ("open", "ret"), "openat": ("open", "ret"), "openat2": ("open", "ret"),
           "creat": ("open", "ret"), "socket": ("open", "ret"), "eventfd2": ("open", "ret"),
           "epoll_create1": ("open", "ret"), "timerfd_create": ("open", "ret"),
           "inotify_init1": ("open", "ret"), "signalfd4": ("open", "ret"),
           "memfd_create": ("open", "ret"), "pidfd_open": ("open", "ret"),
           "io_uring_setup": ("open", "ret"), "accept": ("accept", "ret"),
           "accept4": ("accept", "ret"), "dup": ("dup", "ret"), "dup3": ("dup", "ret"),
           "pidfd_getfd": ("passed", "ret"), "close": ("close", 0)}


def descriptor_changes(event):
    """[(change, descriptor)] that follow from a call."""
    if event.what != "call" or event.ret < 0:
        return []
    if event.name in ("pipe", "pipe2", "socketpair"):
        return [("open", fd) for fd in struct.unpack("=2i", event.text)]
    if event.name == RIGHTS:
        return [("passed", fd) for fd, in struct.iter_unpack("=i", event.text)]
    change, where = CHANGES.get(event.name, (None, None))
    return [(change, event.ret if where == "ret" else event.args[where])] if change else []


def compare_descriptors(notes, events, changes):
    """All errors of the descriptor log."""
    return list(descriptor_differences(notes, events, changes))


def descriptor_differences(notes, events, changes):
    """The descriptor log against the calls: it has each change, with the number of its call."""
    logged = {(c["seq"], c["pid"], c["change"], c["fd"]) for c in changes}
    opened = {}
    for event in events:
        for change, fd in descriptor_changes(event):
            # Another thread may be given the number before this one's close has returned.
            again = change == "close" and opened.get((event.pid, fd), 0) > event.start
            if not again and (event.seq, event.pid, change, fd) not in logged:
                yield f"no change {change} of {fd} is logged for {event}"
            if change != "close":
                opened[event.pid, fd] = event.start + event.dur
    inherited = {(c["pid"], c["from"]) for c in changes if c["change"] == "fork"}
    for note in notes:
        if note[0] == "fork" and (int(note[2]), int(note[1])) not in inherited:
            yield f"descriptors: not logged: {' '.join(note)}"
    if not any(c["change"] == "exec" for c in changes):
        yield "nothing was closed by exec"
    named = {c["name"] for c in changes}
    for want in ("tcp 127.0.0.1:", "anon_inode:[eventpoll]", "pipe:["):
        if not any(name.startswith(want) for name in named):
            yield f"no descriptor is called {want}"


def compare(notes, events, want_uring=False):
    """All errors."""
    return [*compare_parts(notes, events), *compare_processes(notes, events),
            *compare_async(notes, events, want_uring), *compare_endpoints(notes, events),
            *compare_order(events)]


def outline(notes, events):
    """The events on which two backends must agree, for each part of the program in order."""
    order = []
    for note in notes:
        if note[0] == "begin":
            order.append((int(note[2]), note[3]))
    have = parts_of_events(events)
    # For a path of the maximum length, bpf does not know whether it was cut; and ptrace
    # does not see the delivery of SIGKILL. The
    # type of a pidfd depends on the kernel.
    return [(key[1], e.what, e.name, e.file if key[1] != "borrowed" else "",
             e.flags & ~(COARSE | CUT), e.ret if -4096 < e.ret <= 0 else "+", len(e.text))
            for key in order for e in have.get(key, []) if e.what != "pending"
            and (key[1] != "death" or e.name not in ("kill", "SIGKILL"))]
