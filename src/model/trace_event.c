#include "model/trace_event.h"

#include <stddef.h>

static const char *name_at(const char *const *names, unsigned n, unsigned i)
{
	return i < n && names[i] ? names[i] : "?";
}

#define NAME_AT(names, i) name_at(names, sizeof(names) / sizeof((names)[0]), i)

const char *trace_what_name(unsigned what)
{
	static const char *const names[] = {[TRACE_CALL] = "call",
		[TRACE_PENDING] = "pending",
		[TRACE_SIGNAL] = "signal",
		[TRACE_EXIT] = "exit",
		[TRACE_FORK] = "fork",
		[TRACE_EXEC] = "exec",
		[TRACE_ASYNC] = "async",
		[TRACE_LOST] = "lost"};

	return NAME_AT(names, what);
}

const char *trace_file_name(unsigned file)
{
	static const char *const names[] = {[TRACE_FILE_NONE] = "none",
		[TRACE_FILE_STORAGE] = "storage",
		[TRACE_FILE_DIRECTORY] = "directory",
		[TRACE_FILE_TCP] = "tcp",
		[TRACE_FILE_SOCKET] = "socket",
		[TRACE_FILE_PIPE] = "pipe",
		[TRACE_FILE_DEVICE] = "device",
		[TRACE_FILE_OTHER] = "other"};

	return NAME_AT(names, file);
}

const char *trace_call_name(unsigned call)
{
	static const char *const names[] = {[TRACE_CALL_OTHER] = "other",
		[TRACE_CALL_READ] = "read",
		[TRACE_CALL_WRITE] = "write",
		[TRACE_CALL_SYNC] = "sync",
		[TRACE_CALL_OPEN] = "open",
		[TRACE_CALL_META] = "meta",
		[TRACE_CALL_CONNECT] = "connect",
		[TRACE_CALL_WAIT] = "wait",
		[TRACE_CALL_PROCESS] = "process",
		[TRACE_CALL_MEMORY] = "memory"};

	return NAME_AT(names, call);
}

const char *trace_change_name(unsigned change)
{
	static const char *const names[] = {[TRACE_FD_BEFORE] = "before",
		[TRACE_FD_OPEN] = "open",
		[TRACE_FD_ACCEPT] = "accept",
		[TRACE_FD_CONNECT] = "connect",
		[TRACE_FD_DUP] = "dup",
		[TRACE_FD_PASSED] = "passed",
		[TRACE_FD_FORK] = "fork",
		[TRACE_FD_EXEC] = "exec",
		[TRACE_FD_CLOSE] = "close",
		[TRACE_FD_SEEN] = "seen"};

	return NAME_AT(names, change);
}
