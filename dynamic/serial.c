/* SPDX-License-Identifier: Apache-2.0
   What gcc calls for OpenMP, on the calling thread alone, for libhalfulp.so in place of libgomp: a library starts no
   threads behind its caller's back, and libgomp ends the process where it cannot start one. Several threads of the
   caller may be in the library at once, so that critical sections and atomic updates exclude each other here too. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>

void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void **name);
void GOMP_critical_name_end(void **name);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *first, long *last);
bool GOMP_loop_nonmonotonic_dynamic_next(long *first, long *last);
bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, unsigned long long start, unsigned long long end,
	unsigned long long step, unsigned long long chunk, unsigned long long *first, unsigned long long *last);
bool GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long *first, unsigned long long *last);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void omp_set_num_threads(int n);
void hu_serial_release(void);

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local int held;

static void
take(void)
{
	pthread_mutex_lock(&lock);
	held++;
}

static void
give(void)
{
	held--;
	pthread_mutex_unlock(&lock);
}

void
hu_serial_release(void)
{
	while (held)
		give();
}

void
GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags)
{
	(void)threads, (void)flags;
	fn(data);
}

void
GOMP_barrier(void)
{
}
void
GOMP_critical_start(void)
{
	take();
}
void
GOMP_critical_end(void)
{
	give();
}
void
GOMP_critical_name_start(void **name)
{
	(void)name, take();
}
void
GOMP_critical_name_end(void **name)
{
	(void)name, give();
}
void
GOMP_atomic_start(void)
{
	take();
}
void
GOMP_atomic_end(void)
{
	give();
}

bool
GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *first, long *last)
{
	(void)chunk;
	*first = start;
	*last = end;
	return step > 0 ? start < end : start > end;
}

bool
GOMP_loop_nonmonotonic_dynamic_next(long *first, long *last)
{
	(void)first, (void)last;
	return false;
}

bool
GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, unsigned long long start, unsigned long long end,
	unsigned long long step, unsigned long long chunk, unsigned long long *first, unsigned long long *last)
{
	(void)step, (void)chunk;
	*first = start;
	*last = end;
	return up ? start < end : start > end;
}

bool
GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long *first, unsigned long long *last)
{
	(void)first, (void)last;
	return false;
}

void
GOMP_loop_end(void)
{
}
void
GOMP_loop_end_nowait(void)
{
}
int
omp_get_max_threads(void)
{
	return 1;
}
int
omp_get_num_procs(void)
{
	return 1;
}
int
omp_get_num_threads(void)
{
	return 1;
}
int
omp_get_thread_num(void)
{
	return 0;
}
int
omp_in_parallel(void)
{
	return 0;
}
void
omp_set_num_threads(int n)
{
	(void)n;
}
