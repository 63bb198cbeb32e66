/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/exec.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/thread.h"
#include "lib/number/code.h"

#include <stdlib.h>
#include <string.h>

/* Estimates each call's duration. Emulated arithmetic does some 10^9 operations a second on one thread, which is good
   enough to tell long calls from short ones. */
static void
expect(hu_exec *x)
{
	for (int i = 0; i < x->p->nc; i++) {
		hu_cost k = hu_call_cost(x->p, &x->p->c[i]);
		hu_team_expect(&x->team[i], 1e-9 * (k.macs + k.flops));
	}
}

static hu_status
no_memory(hu_exec *x)
{
	const hu_program *p = x->p;
	double total = 0;

	for (int i = 0; i < p->nt; i++)
		total += (double)hu_count(p->t[i].shape) * (double)hu_element_size(p->t[i].format);
	hu_exec_release(x);
	return hu_fail(HU_ENOMEM,
		"program %s needs %.1f MB for its tensors, which do not fit into memory: use a smaller batch or width",
		p->name, total / 1e6);
}

/* Sets everything up but memory for the tensors. */
static void
begin(hu_exec *x, const hu_program *p)
{
	memset(x, 0, sizeof *x);
	x->p = p;
	x->t = hu_xcalloc((size_t)p->nt + 1, sizeof *x->t);
	x->name_hash = hu_xcalloc((size_t)p->nt + 1, sizeof *x->name_hash);
	x->team = hu_xcalloc((size_t)p->nc + 1, sizeof *x->team);
	expect(x);
	for (int i = 0; i < p->nt; i++) {
		hu_tensor *t = &x->t[i];
		t->format = p->t[i].format;
		t->shape = p->t[i].shape;
		t->n = hu_count(t->shape);
		x->name_hash[i] = hu_fnv1a64(p->t[i].name);
	}
}

static size_t
bytes_of(const hu_tensor *t)
{
	return t->n * hu_element_size(t->format);
}

hu_status
hu_exec_init_some(hu_exec *x, const hu_program *p, const char *need)
{
	double all = 0;

	begin(x, p);
	for (int i = 0; i < p->nt; i++)
		all += !need || need[i] ? (double)bytes_of(&x->t[i]) : 0;
	if (all > (double)hu_memory_limit()) /* it is not filled before it is refused */
		return no_memory(x);
	for (int i = 0; i < p->nt; i++)
		if ((!need || need[i]) && !(x->t[i].data = hu_alloc(bytes_of(&x->t[i]))))
			return no_memory(x);
	return HU_OK;
}

hu_status
hu_exec_init(hu_exec *x, const hu_program *p)
{
	return hu_exec_init_some(x, p, NULL);
}

/* Memory that tensors share: how large a piece of it is, and whether a tensor with readers to come lies in it. */
typedef struct place {
	size_t bytes;
	int taken;
} place;

/* The smallest free room that holds as many bytes, unless it is twice as large; else a new one. */
static size_t
find_room(place *r, size_t *n, size_t bytes)
{
	size_t best = *n;

	for (size_t i = 0; i < *n; i++)
		if (!r[i].taken && r[i].bytes >= bytes && r[i].bytes / 2 <= bytes &&
			(best == *n || r[i].bytes < r[best].bytes))
			best = i;
	if (best == *n)
		r[(*n)++].bytes = bytes;
	r[best].taken = 1;
	return best;
}

/* 1 where tensor I is LENT its elements, as they stand there. */
static int
borrows(const hu_exec *x, const hu_tensor *lent, int i)
{
	hu_format_id f = x->t[i].format;

	return lent && lent[i].data && x->p->t[i].producer < 0 && lent[i].format == f &&
	       (f == HU_FP32 || f == HU_FP64) && lent[i].n == x->t[i].n;
}

/* Gives every output a room: at[i] is the one of tensor i. Returns how many there are. */
static size_t
plan_rooms(const hu_exec *x, const char *keep, const hu_tensor *lent, place *r, size_t *at)
{
	const hu_program *p = x->p;
	int *last = hu_program_last_uses(p);
	size_t n = 0;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].producer < 0 && !borrows(x, lent, i))
			at[i] = find_room(r, &n, bytes_of(&x->t[i]));
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		for (int k = 0; k < c->nout; k++)
			at[c->out[k]] = find_room(r, &n, bytes_of(&x->t[c->out[k]]));
		for (int k = 0; k < c->nin + c->nout; k++) {
			int id = k < c->nin ? c->in[k] : c->out[k - c->nin];
			if (last[id] == i && p->t[id].producer >= 0 && !keep[id])
				r[at[id]].taken = 0;
		}
	}
	free(last);
	return n;
}

hu_status
hu_exec_init_sharing(hu_exec *x, const hu_program *p, const char *keep, const hu_tensor *lent)
{
	place *r = hu_xcalloc((size_t)p->nt + 1, sizeof *r);
	size_t *at = hu_xcalloc((size_t)p->nt + 1, sizeof *at);
	double all = 0;
	int full;

	begin(x, p);
	x->nroom = plan_rooms(x, keep, lent, r, at);
	x->room = hu_xcalloc(x->nroom + 1, sizeof *x->room);
	for (size_t i = 0; i < x->nroom; i++)
		all += (double)r[i].bytes;
	full = all > (double)hu_memory_limit();
	for (size_t i = 0; i < x->nroom && !full; i++)
		full |= !(x->room[i] = hu_alloc(r[i].bytes));
	for (int i = 0; i < p->nt && !full; i++)
		x->t[i].data = borrows(x, lent, i) ? lent[i].data : x->room[at[i]];
	free(r);
	free(at);
	return full ? no_memory(x) : HU_OK;
}

/* A large allocation takes up to two pages more than it asks for, a small one its header and alignment. Reductions hold
   a number for each lane, block of 4096 and result: less than a 64th of what they read, plus 32 lanes of 4 results per
   thread (lib/op/reduce/reduce.inc). */
double
hu_exec_bytes(const hu_program *p, int threads)
{
	enum { PAGES = 8192, SMALL = 128, LARGE = 1 << 16, LANES = 32 * 4 * 8 };
	double total = 0, most = 0;

	for (int i = 0; i < p->nt; i++) {
		double bytes = (double)hu_count(p->t[i].shape) * (double)hu_element_size(p->t[i].format);
		total += bytes + (bytes < LARGE ? SMALL : PAGES) + sizeof(hu_tensor) + sizeof(uint64_t);
	}
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		double room = 0;
		for (int k = 0; k < c->nin; k++) {
			const hu_info *t = &p->t[c->in[k]];
			double one = (double)hu_count(t->shape) * 8 / 64 +
				     (double)threads * LANES * (double)hu_last(t->shape);
			room = one > room ? one : room;
		}
		if (HU_COLUMN(c->op, workspace)) {
			hu_shape in[16], out[16];
			HU_ASSERT(c->nin <= 16 && c->nout <= 16);
			hu_call_shapes(p, c, in, out);
			room = HU_COLUMN(c->op, workspace)(c, in, threads);
		}
		most = room > most ? room : most;
	}
	return total + most;
}

void
hu_exec_release(hu_exec *x)
{
	for (int i = 0; x->t && !x->room && i < x->p->nt; i++)
		free(x->t[i].data);
	for (size_t i = 0; i < x->nroom; i++)
		free(x->room[i]);
	free(x->room);
	free(x->t);
	free(x->name_hash);
	free(x->team);
	memset(x, 0, sizeof *x);
}

hu_status
hu_exec_call(const hu_program *p, int call, hu_tensor *t, const hu_env *env)
{
	const hu_call *c = &p->c[call];
	hu_tensor *small[16],
		**in = c->nin + c->nout <= 16 ? small : hu_xmalloc((size_t)(c->nin + c->nout) * sizeof *in),
		**out = in + c->nin;

	for (int i = 0; i < c->nin; i++)
		in[i] = &t[c->in[i]];
	for (int i = 0; i < c->nout; i++)
		out[i] = &t[c->out[i]];
	hu_status st = HU_COLUMN(c->op, emulate)(c, in, out, env);
	if (in != small)
		free(in);
	return st;
}

hu_status
hu_exec_one(hu_exec *x, int call, const hu_env *env)
{
	int threads = hu_threads();
	double start = hu_now();

	hu_threads_set(hu_team_all(&x->team[call]) ? threads : 1);
	hu_status st = hu_exec_call(x->p, call, x->t, env);
	hu_threads_set(threads);
	start = hu_now() - start;
	hu_team_took(&x->team[call], start);
	if (x->seconds)
		x->seconds[call] += start;
	if (x->after && st == HU_OK)
		x->after(x->with, x, call);
	return st;
}

hu_status
hu_exec_run(hu_exec *x, const hu_env *env)
{
	hu_status st = HU_OK;

	for (int i = 0; i < x->p->nc && st == HU_OK; i++)
		st = hu_exec_one(x, i, env);
	return st;
}

void
hu_exec_commit(hu_exec *x)
{
	for (int i = 0; i < x->p->nt; i++) {
		int next = x->p->t[i].next;
		if (next < 0)
			continue;
		void *data = x->t[i].data;
		x->t[i].data = x->t[next].data;
		x->t[next].data = data;
	}
}

static uint64_t
tensor_digest(const hu_tensor *t, uint64_t name)
{
	hu_format f = hu_format_of(t->format);
	uint64_t sum = 0;

	if (t->format == HU_FP32) {
		const uint32_t *u = t->data; /* a float's bits are its code, and every NaN is already the one NaN */
#pragma omp parallel for reduction(+ : sum) schedule(static) if (t->n > 16384)
		for (size_t i = 0; i < t->n; i++)
			sum += hu_digest_term(name, i, u[i]);
		return sum;
	}
#pragma omp parallel for reduction(+ : sum) schedule(static) if (t->n > 16384)
	for (size_t i = 0; i < t->n; i++)
		sum += hu_digest_term(name, i, hu_encode(hu_get(t, i), f));
	return sum;
}

/* Sums the digests of the states that are there; own: of those alone that belong to one rank. */
static uint64_t
digest_of(const hu_exec *x, int own)
{
	hu_team *team = &x->team[x->p->nc];
	int threads = hu_threads();
	uint64_t sum = 0;
	double start = hu_now();

	hu_threads_set(hu_team_all(team) ? threads : 1);
	for (int i = 0; i < x->p->nt; i++)
		if (x->p->t[i].state && x->t[i].data && (!own || x->p->t[i].own))
			sum += tensor_digest(&x->t[i], x->name_hash[i]);
	hu_threads_set(threads);
	hu_team_took(team, hu_now() - start);
	return sum;
}

uint64_t
hu_exec_digest(const hu_exec *x)
{
	return digest_of(x, 0);
}

uint64_t
hu_exec_own_digest(const hu_exec *x)
{
	return digest_of(x, 1);
}

/* How many of n words have an exponent of ones. This is apart from the sum over threads, since clang takes that for a
   word that may be one of u's, and would not use wide registers. */
static size_t
nonfinite64(const uint64_t *u, size_t n)
{
	size_t found = 0;

#pragma omp simd reduction(+ : found)
	for (size_t i = 0; i < n; i++)
		found += ((u[i] & 0x7fffffffffffffff) + 0x0010000000000000) >> 63; /* SSE2 cannot compare them */
	return found;
}

/* The same of floats, fewer than 2^32, counted in lanes as wide as they are. */
static size_t
nonfinite32(const uint32_t *u, size_t n)
{
	uint32_t found = 0;

#pragma omp simd reduction(+ : found)
	for (size_t i = 0; i < n; i++)
		found += (u[i] & 0x7f800000) == 0x7f800000;
	return found;
}

size_t
hu_tensor_nonfinite(const hu_tensor *t)
{
	enum { STRETCH = 4096 };
	size_t n = 0;

	if (hu_is_wide(t->format)) {
		const uint64_t *u = t->data;
#pragma omp parallel for reduction(+ : n) schedule(static) num_threads(hu_threads()) if (t->n > 65536)
		for (size_t i = 0; i < t->n; i += STRETCH)
			n += nonfinite64(u + i, t->n - i < STRETCH ? t->n - i : STRETCH);
	} else {
		const uint32_t *u = t->data;
#pragma omp parallel for reduction(+ : n) schedule(static) num_threads(hu_threads()) if (t->n > 65536)
		for (size_t i = 0; i < t->n; i += STRETCH)
			n += nonfinite32(u + i, t->n - i < STRETCH ? t->n - i : STRETCH);
	}
	return n;
}
