/* SPDX-License-Identifier: Apache-2.0
   A library to be preloaded (LD_PRELOAD) that lets an allocation of the program `halfulp` fail: malloc, calloc, realloc
   and the aligned ones, counted from main on, on all threads and in all of its processes. The environment says
   which:
   FAULT_AT=N      the N-th counted one fails; 0: none, they are only counted
   FAULT_ONWARDS=1 and so do all later ones
   FAULT_CALLER=program|library|any   only those that the program, or that a library asks for, are counted
   FAULT_ERRNO=1   and each that does not fail leaves ENOMEM in errno, as the C library does where its heap cannot grow
                   any more and it finds memory elsewhere
   FAULT_REPORT=FILE   is given the two counts, of calls and of failures, as two 8-byte integers; it is not there when
   the first process starts */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { PROGRAM = 1, LIBRARY = 2 };

typedef struct counts {
	_Atomic int64_t calls, failures;
} counts;

static counts unseen, *count = &unseen;
static int64_t at;
static int onwards, callers, begun, leaves;
static int (*main_of_program)(int, char **, char **);

static counts *
shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(counts)))
		p = mmap(NULL, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? &unseen : p;
}

static int
counted_main(int argc, char **argv, char **envp)
{
	const char *n = getenv("FAULT_AT"), *who = getenv("FAULT_CALLER"), *report = getenv("FAULT_REPORT");

	if (!strcmp(program_invocation_short_name, "halfulp")) {
		at = n ? atoll(n) : 0;
		onwards = getenv("FAULT_ONWARDS") != NULL;
		callers = !who || !strcmp(who, "any") ? PROGRAM | LIBRARY : !strcmp(who, "program") ? PROGRAM : LIBRARY;
		count = report ? shared(report) : count;
		leaves = getenv("FAULT_ERRNO") != NULL;
		begun = 1;
	}
	return main_of_program(argc, argv, envp);
}

/* What the C library's start-up code calls main through. */
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

/* The linker names where the program's own code begins; the object that an address lies in is asked of the loader,
   which allocates nothing for that. */
static int
caller_of(void *address)
{
	Dl_info at_main, here;

	if (callers == (PROGRAM | LIBRARY))
		return callers;
	if (!dladdr(*(void **)&main_of_program, &at_main) || !dladdr(address, &here))
		return LIBRARY;
	return here.dli_fbase == at_main.dli_fbase ? PROGRAM : LIBRARY;
}

static int
fails(void *address)
{
	if (leaves)
		errno = ENOMEM;
	if (!begun || !(caller_of(address) & callers))
		return 0;
	int64_t k = atomic_fetch_add(&count->calls, 1) + 1;
	if (!at || (onwards ? k < at : k != at))
		return 0;
	atomic_fetch_add(&count->failures, 1);
	errno = ENOMEM;
	return 1;
}

#define HERE __builtin_return_address(0)

void *
malloc(size_t n)
{
	return fails(HERE) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails(HERE) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return n && fails(HERE) ? NULL : __libc_realloc(p, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
	void *made = fails(HERE) ? NULL : __libc_memalign(align, n);

	if (made)
		*p = made;
	return made ? 0 : ENOMEM;
}

void *
aligned_alloc(size_t align, size_t n)
{
	return fails(HERE) ? NULL : __libc_memalign(align, n);
}
