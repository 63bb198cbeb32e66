/* SPDX-License-Identifier: Apache-2.0
   Runs a program and lets one of its system calls fail, be short, or be the last:
       calls REPORT CALLS N HOW PROGRAM ARGUMENT...
   CALLS are names of the table below, between commas. Of the calls of halfulp that concern a file of the user's (no
   library, no standard stream, nothing of /proc and the like), and of those that concern no file, the N-th fails with
   the error HOW (of the table below; a file is closed all the same); `short`: half of it is written or read, `byte`:
   one byte; `kill`: the program is killed before it; `swap`: before it the file that it
   names is replaced by the one beside it whose name ends with .other, where there is one. `HOW+` has all later ones
   fail too. N = 0 only counts. REPORT is given a line: how many were counted, how many failed, the last that failed.
   The exit code is the program's, or 128 and the number of the signal that ended it.
   Nothing is altered inside the program, which is traced (ptrace) and stopped at these calls by a filter (seccomp). */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef __x86_64__
int
main(void)
{
	fputs("calls: the registers of this machine are not known\n", stderr);
	return 77;
}
#else
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/user.h>

enum { PATH = 1, AT = 2, FD = 4, MAPPED = 8, SIZED = 16, STANDARD = 32, ANONYMOUS = 64, NONE = 128 };

/* Where a call says which file it means: its first argument is a path, its second is, its first is a descriptor, its
   fifth is one that is mapped. SIZED: its third argument is a length. STANDARD: its first argument is the descriptor
   of standard output or standard error. ANONYMOUS: it maps no file. NONE: it means no file. */
static const struct {
	const char *name;
	int number, kind;
} table[] = {
	{ "write", SYS_write, FD | SIZED },
	{ "write", SYS_writev, FD },
	{ "write", SYS_pwrite64, FD | SIZED },
	{ "read", SYS_read, FD | SIZED },
	{ "read", SYS_pread64, FD | SIZED },
	{ "fsync", SYS_fsync, FD },
	{ "close", SYS_close, FD },
	{ "ftruncate", SYS_ftruncate, FD },
	{ "flock", SYS_flock, FD },
	{ "fstat", SYS_fstat, FD },
	{ "fstat", SYS_newfstatat, AT },
	{ "dents", SYS_getdents64, FD },
	{ "seek", SYS_lseek, FD },
	{ "fallocate", SYS_fallocate, FD },
	{ "open", SYS_open, PATH },
	{ "open", SYS_openat, AT },
	{ "rename", SYS_rename, PATH },
	{ "rename", SYS_renameat, AT },
	{ "rename", SYS_renameat2, AT },
	{ "mkdir", SYS_mkdir, PATH },
	{ "mkdir", SYS_mkdirat, AT },
	{ "unlink", SYS_unlink, PATH },
	{ "unlink", SYS_unlinkat, AT },
	{ "mmap", SYS_mmap, MAPPED },
	{ "say", SYS_write, STANDARD | SIZED },
	{ "say", SYS_writev, STANDARD },
	{ "memory", SYS_mmap, ANONYMOUS },
	{ "memory", SYS_mremap, NONE },
	{ "memory", SYS_brk, NONE },
	{ "unmap", SYS_munmap, NONE },
	{ "unmap", SYS_mprotect, NONE },
	{ "unmap", SYS_madvise, NONE },
	{ "process", SYS_clone, NONE },
	{ "process", SYS_clone3, NONE },
	{ "process", SYS_fork, NONE },
	{ "process", SYS_vfork, NONE },
	{ "process", SYS_pipe, NONE },
	{ "process", SYS_pipe2, NONE },
	{ "process", SYS_execve, NONE },
	{ "wait", SYS_wait4, NONE },
	{ "wait", SYS_clock_nanosleep, NONE },
	{ "ask", SYS_getcwd, NONE },
	{ "ask", SYS_uname, NONE },
	{ "ask", SYS_sysinfo, NONE },
	{ "ask", SYS_getrandom, NONE },
	{ "ask", SYS_prlimit64, NONE },
	{ "ask", SYS_getrusage, NONE },
	{ "ask", SYS_sched_getaffinity, NONE },
	{ "ask", SYS_statfs, PATH },
	{ "ask", SYS_fstatfs, FD },
	{ "ask", SYS_access, PATH },
	{ "ask", SYS_faccessat, AT },
	{ "ask", SYS_faccessat2, AT },
	{ "ask", SYS_readlink, PATH },
	{ "ask", SYS_fcntl, FD },
	{ "ask", SYS_chdir, PATH },
};
enum { CALLS = sizeof table / sizeof *table };

static const struct {
	const char *name;
	int code;
} errors[] = { { "EIO", EIO }, { "ENOSPC", ENOSPC }, { "EMFILE", EMFILE }, { "EACCES", EACCES }, { "EINTR", EINTR },
	{ "ENOMEM", ENOMEM }, { "EDQUOT", EDQUOT }, { "EAGAIN", EAGAIN }, { "EPIPE", EPIPE }, { "EXDEV", EXDEV },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "ENOSYS", ENOSYS }, { "EINVAL", EINVAL }, { "ENOLCK", ENOLCK },
	{ "EROFS", EROFS }, { "EPERM", EPERM }, { "ETIMEDOUT", ETIMEDOUT }, { "EUCLEAN", EUCLEAN },
	{ "ENOTCONN", ENOTCONN }, { "short", 0 }, { "kill", -1 },
	{ "swap", -2 }, { "byte", -3 } };

static const char *names;
static long at, counted, failed;
static int how, onwards;
static pid_t closing; /* the process whose close() ends as a failure */
static char last[400] = "-";

static int
asked(const char *name)
{
	char all[300], one[40];

	snprintf(all, sizeof all, ",%s,", names);
	snprintf(one, sizeof one, ",%s,", name);
	return strstr(all, one) != NULL;
}

/* In the child: stops at the calls that were asked for, then becomes the program. */
static void
begin(char **argv)
{
	struct sock_filter f[3 * CALLS + 2];
	unsigned short n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < CALLS; i++)
		if (asked(table[i].name)) {
			f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, table[i].number, 0, 1);
			f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
		}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { .len = n, .filter = f };
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
	execv(argv[0], argv);
	_exit(77);
}

/* Copies the string at an address of the process. */
static void
text_of(char *to, size_t room, pid_t pid, unsigned long address)
{
	size_t n = 0;

	for (; n + 1 < room; n++) {
		struct iovec here = { to + n, 1 }, there = { (void *)(address + n), 1 };
		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != 1 || !to[n])
			break;
	}
	to[n] = 0;
}

/* Sets path to the file that the call means; "" where that is none, and where it is not the row's kind. */
static void
file_of(char *path, size_t room, pid_t pid, int kind, const struct user_regs_struct *r)
{
	int fd = (int)(kind & MAPPED ? r->r8 : r->rdi), is_at = kind & AT && fd >= 0;
	char link[64], name[200] = "";

	*path = 0;
	if (kind & (PATH | AT)) {
		text_of(is_at ? name : path, is_at ? sizeof name : room, pid, kind & PATH ? r->rdi : r->rsi);
		if (!is_at || *name == '/') {
			if (is_at)
				snprintf(path, room, "%s", name);
			return;
		}
	} else if (kind & NONE || (kind & STANDARD && (fd == 1 || fd == 2)) || (kind & ANONYMOUS && (int)r->r8 < 0)) {
		snprintf(path, room, "-");
		return;
	} else if (fd <= 2 || kind & (STANDARD | ANONYMOUS)) {
		return;
	}
	snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
	ssize_t n = readlink(link, path, room - 1);
	n = n > 0 ? n : 0;
	path[n] = 0;
	if (is_at)
		snprintf(path + n, room - (size_t)n, "/%s", name);
}

static int
is_users(const char *path)
{
	static const char *const others[] = { "/usr/", "/lib", "/etc/", "/proc", "/sys/", "/dev/",
		"pipe:", "socket:", "anon_inode:" };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strncmp(path, others[i], strlen(others[i])) && strncmp(path, "/dev/shm/", 9))
			return 0;
	return *path && !strstr(path, ".so");
}

/* Whether the process is the program itself, and none that it started. */
static int
is_program(pid_t pid)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	FILE *f = fopen(path, "r");
	if (f && !fgets(name, sizeof name, f))
		*name = 0;
	if (f)
		fclose(f);
	return !strcmp(name, "halfulp\n");
}

/* Puts the file in its place whose name is that one and .other; returns whether there was one. */
static int
swapped(const char *path)
{
	char other[320];

	snprintf(other, sizeof other, "%s.other", path);
	return !rename(other, path);
}

/* The process stands before a call of the table. */
static void
before(pid_t pid)
{
	struct user_regs_struct r;
	char path[300] = "";
	int i = -1;

	if (!is_program(pid) || ptrace(PTRACE_GETREGS, pid, 0, &r))
		return;
	while (++i < CALLS)
		if (table[i].number == (int)r.orig_rax && asked(table[i].name)) {
			file_of(path, sizeof path, pid, table[i].kind, &r);
			if (*path)
				break;
		}
	if (i == CALLS || !is_users(path) || ((!how || how == -3) && !(table[i].kind & SIZED)))
		return;
	counted++;
	if (!at || (onwards ? counted < at : counted != at))
		return;
	snprintf(last, sizeof last, "%s %s", table[i].name, path);
	if (how == -2) {
		failed += swapped(path);
		return;
	}
	failed++;
	if (how == -1) {
		kill(pid, SIGKILL);
		return;
	}
	if (!how) {
		r.rdx = r.rdx > 1 ? r.rdx / 2 : r.rdx;
	} else if (how == -3) {
		r.rdx = r.rdx > 1 ? 1 : r.rdx;
	} else if (r.orig_rax == SYS_close) {
		closing = pid;
		return;
	} else {
		r.orig_rax = (unsigned long)-1;
		/* brk() says that it failed by returning the end that there was, which is never 0 */
		r.rax = table[i].number == SYS_brk ? 0 : (unsigned long)-how;
	}
	ptrace(PTRACE_SETREGS, pid, 0, &r);
}

/* The process stands behind the close() that has closed its file, and is told that it failed. */
static void
behind(pid_t pid)
{
	struct user_regs_struct r;

	closing = 0;
	if (!ptrace(PTRACE_GETREGS, pid, 0, &r)) {
		r.rax = (unsigned long)-how;
		ptrace(PTRACE_SETREGS, pid, 0, &r);
	}
}

int
main(int argc, char **argv)
{
	int status, code = 77;

	if (argc < 6)
		return 77;
	names = argv[2];
	at = atol(argv[3]);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (!strncmp(argv[4], errors[i].name, strlen(errors[i].name)))
			how = errors[i].code;
	onwards = argv[4][strlen(argv[4]) - 1] == '+';
	pid_t child = fork();
	if (!child)
		begin(argv + 5);
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status) ||
		ptrace(PTRACE_SETOPTIONS, child, 0,
			PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		return 77;
	ptrace(PTRACE_CONT, child, 0, 0);
	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
		int signal = 0, event = WIFSTOPPED(status) ? status >> 16 : 0;
		if (!WIFSTOPPED(status)) {
			if (pid == child)
				code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			continue;
		}
		if (event == PTRACE_EVENT_SECCOMP)
			before(pid);
		else if (!event && pid == closing && WSTOPSIG(status) == SIGTRAP)
			behind(pid);
		else if (!event && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP)
			signal = WSTOPSIG(status);
		ptrace(pid == closing ? PTRACE_SYSCALL : PTRACE_CONT, pid, 0, signal);
	}
	FILE *f = fopen(argv[1], "w");
	if (f) {
		fprintf(f, "%ld %ld %s\n", counted, failed, last);
		fclose(f);
	}
	return code;
}
#endif
