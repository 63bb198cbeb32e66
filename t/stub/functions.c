/* SPDX-License-Identifier: Apache-2.0
   A library to be preloaded (LD_PRELOAD) that lets a call of the C library fail that the program `halfulp` makes
   itself, counted from main on, on all threads and in all of its processes. The environment says which:

   FAULT_FUNCTION=NAME   a function of the table below; `clock`: clock_gettime, time and gettimeofday, which do not fail
			 but go back by an hour from the N-th call on; `no-clock`: clock_gettime, which fails; `type`:
			 readdir, which says no longer what an entry is; `list`: the program is not run, and the names
			 of the table are printed

   FAULT_AT=N            the N-th call of it fails; 0: none

   FAULT_ONWARDS=ERROR   and so do all later ones, with this number as errno (0: with the one of the table)

   FAULT_REPORT=FILE     is given how often each function was called, then how many calls failed, as 8-byte integers; it
			 is not there when the first process starts */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HERE __builtin_return_address(0)

/* Those that are written out below. */
#define OTHERS                                                                                                         \
	FUNCTION(open)                                                                                                 \
	FUNCTION(openat)                                                                                               \
	FUNCTION(fcntl)                                                                                                \
	FUNCTION(fclose)                                                                                               \
	FUNCTION(pclose) FUNCTION(close) FUNCTION(fflush) FUNCTION(fputs) FUNCTION(fputc) FUNCTION(fwrite)             \
		FUNCTION(fread) FUNCTION(fgets) FUNCTION(fprintf) FUNCTION(vfprintf) FUNCTION(printf) FUNCTION(puts)   \
			FUNCTION(putchar) FUNCTION(readdir) FUNCTION(clock)

/* What does not fail as functions of C do: each is a name of its own. */
enum { IS_no_clock = -2, IS_type = -3 };

enum {
#define FUNCTION(type, name, ...) IS_##name,
#include "t/stub/functions.def"
#undef FUNCTION
#define FUNCTION(name) IS_##name,
	OTHERS
#undef FUNCTION
		HOW_MANY
};

static const char *const names[] = {
#define FUNCTION(type, name, ...) #name,
#include "t/stub/functions.def"
#undef FUNCTION
#define FUNCTION(name) #name,
	OTHERS
#undef FUNCTION
};

typedef struct counts {
	_Atomic int64_t calls[HOW_MANY], failures;
} counts;

static counts unseen, *count = &unseen;
static int64_t at, faster;
static int chosen = -1, begun, onwards, other_error;
static int (*main_of_program)(int, char **, char **);

static int
counted_main(int argc, char **argv, char **envp)
{
	const char *n = getenv("FAULT_AT"), *which = getenv("FAULT_FUNCTION"), *report = getenv("FAULT_REPORT"),
		   *slower = getenv("FAULT_SLOWER"), *later = getenv("FAULT_ONWARDS");

	if (which && !strcmp(which, "list")) {
		for (int i = 0; i < HOW_MANY; i++)
			puts(names[i]);
		fflush(stdout);
		_exit(0); /* the program has not said that it ends by itself */
	}
	if (!strcmp(program_invocation_short_name, "halfulp")) {
		int fd = report ? open(report, O_RDWR | O_CREAT, 0666) : -1;
		void *p = MAP_FAILED;
		if (fd >= 0 && !ftruncate(fd, sizeof(counts)))
			p = mmap(NULL, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (fd >= 0)
			close(fd);
		count = p == MAP_FAILED ? &unseen : p;
		at = n ? atoll(n) : 0;
		faster = slower ? atoll(slower) : 1;
		onwards = later != NULL;
		other_error = later ? atoi(later) : 0;
		chosen = which && !strcmp(which, "no-clock") ? IS_no_clock : -1;
		chosen = which && !strcmp(which, "type") ? IS_type : chosen;
		for (int i = 0; i < HOW_MANY; i++)
			chosen = which && !strcmp(which, names[i]) ? i : chosen;
		begun = 1;
	}
	return main_of_program(argc, argv, envp);
}

int
__libc_start_main(int (*m)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
	void (*loader_end)(void), void *stack_end)
{
	int (*next)(
		int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

	*(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
	main_of_program = m;
	return next(counted_main, argc, argv, init, fini, loader_end, stack_end);
}

static int
is_of_program(void *address)
{
	Dl_info at_main, here;

	return begun && dladdr(*(void **)&main_of_program, &at_main) && dladdr(address, &here) &&
	       here.dli_fbase == at_main.dli_fbase;
}

/* Whether this call of function i, from an address of the program itself, is the one that fails. */
static int
fails(int i, void *address, int code)
{
	if (!is_of_program(address))
		return 0;
	int64_t k = atomic_fetch_add(&count->calls[i], 1) + 1;
	if (i != chosen || !at || (i == IS_clock || onwards ? k < at : k != at))
		return 0;
	atomic_fetch_add(&count->failures, 1);
	errno = code && other_error ? other_error : code ? code : errno;
	return 1;
}

/* Whether this call, from the program itself, is one of those that are chosen by a name of their own. */
static int
is_peculiar(int which, void *address)
{
	if (chosen != which || !at || !is_of_program(address))
		return 0;
	atomic_fetch_add(&count->failures, 1);
	return 1;
}

#define NEXT(name)                                                                                                     \
	static __typeof__(&name) next;                                                                                 \
	if (!next)                                                                                                     \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

#define FUNCTION(type, name, parameters, arguments, bad, code)                                                         \
	type name parameters                                                                                           \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		return fails(IS_##name, HERE, code) ? (type)(bad) : next arguments;                                    \
	}
#include "t/stub/functions.def"

int
open(const char *path, int flags, ...)
{
	va_list a;
	mode_t mode = 0;

	NEXT(open);
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(a, flags);
		mode = va_arg(a, mode_t);
		va_end(a);
	}
	return fails(IS_open, HERE, EMFILE) ? -1 : next(path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...)
{
	va_list a;
	mode_t mode = 0;

	NEXT(openat);
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(a, flags);
		mode = va_arg(a, mode_t);
		va_end(a);
	}
	return fails(IS_openat, HERE, EMFILE) ? -1 : next(folder, path, flags, mode);
}

int
fcntl(int fd, int command, ...)
{
	va_list a;

	NEXT(fcntl);
	va_start(a, command);
	void *more = va_arg(a, void *);
	va_end(a);
	return fails(IS_fcntl, HERE, EINTR) ? -1 : next(fd, command, more);
}

/* What closes does so, and says that what was written has not reached the disk. */
int
fclose(FILE *f)
{
	NEXT(fclose);
	int bad = fails(IS_fclose, HERE, 0), code = next(f);

	errno = bad ? EIO : errno;
	return bad ? EOF : code;
}

int
pclose(FILE *f)
{
	NEXT(pclose);
	int bad = fails(IS_pclose, HERE, 0), code = next(f);

	errno = bad ? ECHILD : errno;
	return bad ? -1 : code;
}

int
close(int fd)
{
	NEXT(close);
	int bad = fails(IS_close, HERE, 0), code = next(fd);

	errno = bad ? EIO : errno;
	return bad ? -1 : code;
}

#include "t/stub/streams.inc"

struct dirent *
readdir(DIR *d)
{
	NEXT(readdir);
	struct dirent *e = fails(IS_readdir, HERE, EIO) ? NULL : next(d);

	if (e && is_peculiar(IS_type, HERE))
		e->d_type = DT_UNKNOWN;
	return e;
}

int
clock_gettime(clockid_t which, struct timespec *t)
{
	NEXT(clock_gettime);
	if (is_peculiar(IS_no_clock, HERE)) {
		errno = EINVAL;
		return -1;
	}
	int back = fails(IS_clock, HERE, 0), code = next(which, t);

	if (faster > 1 && is_of_program(HERE)) {
		long long ns = (t->tv_sec % 1000000 * 1000000000LL + t->tv_nsec) * faster;
		t->tv_sec = t->tv_sec / 1000000 * 1000000 + ns / 1000000000;
		t->tv_nsec = ns % 1000000000;
	}
	t->tv_sec -= back ? 3600 : 0;
	return code;
}
time_t
time(time_t *to)
{
	struct timespec t;
	int back = fails(IS_clock, HERE, 0);

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec -= back ? 3600 : 0;
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}
