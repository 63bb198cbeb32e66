/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/tree/tree_box.h"

#include "lib/base/mem.h"
#include "lib/exact/blas.h"
#include "lib/sum/model/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A BLAS too computes several outputs at once. */
enum { COLUMNS = HU_SUM_COLUMNS, ROWS = 2 };

/* Splits t, a power of two, into factors whose exponents differ by at most one. */
static void
split(double t, double *a, double *b)
{
	int e = ilogb(t), half = e >= 0 ? (e + 1) / 2 : e / 2;

	*a = t < 0 ? -hu_pow2(half) : hu_pow2(half);
	*b = hu_pow2(e - half);
}

static void
put(char *values, int wide, size_t at, double v)
{
	if (wide)
		((double *)(void *)values)[at] = v;
	else
		((float *)(void *)values)[at] = (float)v;
}

/* Returns 1 where term k is new, and remembers it: few terms change between two sums. */
static int
changed(hu_tree_box *x, const double *terms, size_t k)
{
	if (x->last[k] == terms[k])
		return 0;
	x->last[k] = terms[k];
	return 1;
}

static int
is_wide(const hu_tree_box *x)
{
	return x->program ? hu_is_wide(x->program->t[x->in[0]].format) : x->acc.id == HU_FP64;
}

/* Allocates memory for the two factors of n terms, each with that many copies; no term is known yet. */
static void
room(hu_tree_box *x, size_t copies_a, size_t copies_b)
{
	size_t size = is_wide(x) ? sizeof(double) : sizeof(float);

	x->last = hu_xmalloc(x->n * sizeof *x->last);
	for (size_t k = 0; k < x->n; k++)
		x->last[k] = NAN;
	x->values[0] = hu_xcalloc(x->n * copies_a + 1, size);
	x->values[1] = hu_xcalloc(x->n * copies_b + 1, size);
}

/* Reads the sum, if all outputs that should be equal are. */
static hu_status
get(hu_tree_box *x, double *sum)
{
	const hu_info *t = &x->program->t[x->y];
	size_t n = hu_count(t->shape);
	void *raw = hu_xmalloc(n * hu_element_size(t->format));
	hu_tensor y = { .format = t->format, .n = n, .data = raw };
	hu_status st = x->backend->read(x->machine, x->y, raw);

	*sum = st == HU_OK ? hu_get(&y, x->call.at) : 0;
	for (size_t i = 1; st == HU_OK && i < x->call.equal; i++)
		if (hu_bits64(hu_get(&y, x->call.at + i)) != hu_bits64(*sum))
			st = hu_fail(HU_EUNABLE, "outputs of the same terms differ: %.17g and %.17g", *sum,
				hu_get(&y, x->call.at + i));
	free(raw);
	return st;
}

static double
answer(hu_tree_box *x, double sum)
{
	if (x->st == HU_OK)
		return sum;
	if (!*x->why)
		snprintf(x->why, sizeof x->why, "%s", hu_reason());
	return NAN;
}

static double
run_program(void *to, const double *terms, size_t n)
{
	hu_tree_box *x = to;
	const hu_sum_call *s = &x->call;
	hu_env env = { 0, 0 };
	double sum = NAN;
	int wide = is_wide(x);

	for (size_t k = 0; k < n; k++) {
		double f[2] = { terms[k], terms[k] };
		if (!changed(x, terms, k))
			continue;
		if (x->products)
			split(terms[k], &f[0], &f[1]);
		for (int j = 0; j < s->nin; j++)
			for (size_t c = 0; c < s->copies[j]; c++)
				put(x->values[j], wide, s->place(s, j, k, c), f[j]);
	}
	for (int j = 0; j < s->nin && x->st == HU_OK; j++)
		x->st = x->backend->write(x->machine, x->in[j], x->values[j]);
	if (x->st == HU_OK)
		x->st = x->backend->step(x->machine, &env);
	if (x->st == HU_OK)
		x->st = get(x, &sum);
	return answer(x, sum);
}

hu_status
hu_tree_box_open(
	hu_tree_box *x, const hu_backend *backend, const hu_op *op, hu_sum s, hu_format_id in, size_t part, size_t n)
{
	static const char *const names[] = { "box.a", "box.b" };
	hu_call *c;

	memset(x, 0, sizeof *x);
	x->op = op->name;
	x->n = n;
	HU_COLUMN(op, sum_call)(n, &x->call);
	x->backend = backend;
	x->sum = run_program;
	x->term = hu_format_of(in);
	x->products = x->call.nin == 2;
	if (x->products)
		HU_TRY(hu_sum_resolve(&s, in, in, hu_sum_is_unit(s.id) ? s.out : s.acc));
	x->acc = hu_format_of(x->products ? s.acc : in == HU_FP64 ? HU_FP64 : HU_FP32);
	hu_format_id out = hu_sum_widens(s) ? s.acc == HU_FP64 ? HU_FP64 : HU_FP32 : x->acc.id;
	x->program = hu_program_new("tree");
	for (int j = 0; j < x->call.nin; j++)
		x->in[j] = hu_program_tensor(x->program, names[j], in, x->call.in[j], HU_ACTIVATION);
	room(x, x->call.copies[0], x->call.copies[1]);
	x->y = hu_program_tensor(x->program, "box.y", out, x->call.out, HU_ACTIVATION);
	c = hu_program_call(x->program, x->op, HU_FORWARD, "box", x->in, x->call.nin, &x->y, 1);
	c->sum = s;
	c->fmt.acc = s.acc;
	c->fmt.out = out;
	if (part)
		hu_attr_set(c, "part", (double)part);
	for (int i = 0; i < 2 && x->call.attr[i].key; i++)
		hu_attr_set(c, x->call.attr[i].key, x->call.attr[i].value);
	HU_TRY(hu_program_validate(x->program));
	return backend->open(&x->machine, x->program, HU_GEMM_AUTO);
}

typedef void gemm_f(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void gemm_d(
	int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
typedef float dot_f(int, const float *, int, const float *, int);
typedef double dot_d(int, const double *, int, const double *, int);

/* One row times COLUMNS columns: C[1,COLUMNS] = A[1,n] B[n,COLUMNS], or an inner product. */
static double
run_blas(void *to, const double *terms, size_t n)
{
	enum { ROW_MAJOR = 101, NO_TRANS = 111 };
	hu_tree_box *x = to;
	int wide = x->acc.id == HU_FP64, gemm = strstr(x->op, "gemm") != NULL, k = (int)n;
	size_t columns = gemm ? COLUMNS : 1;
	void *a = x->values[0], *b = x->values[1];
	double sum = NAN, d[ROWS * COLUMNS] = { 0 };
	float s[ROWS * COLUMNS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double f, g;
		if (!changed(x, terms, i))
			continue;
		split(terms[i], &f, &g);
		for (size_t r = 0; r < ROWS; r++)
			put(x->values[0], wide, r * n + i, f);
		for (size_t c = 0; c < columns; c++)
			put(x->values[1], wide, i * columns + c, g);
	}
	if (gemm && wide)
		((gemm_d *)x->function)(
			ROW_MAJOR, NO_TRANS, NO_TRANS, ROWS, COLUMNS, k, 1, a, k, b, COLUMNS, 0, d, COLUMNS);
	else if (gemm)
		((gemm_f *)x->function)(
			ROW_MAJOR, NO_TRANS, NO_TRANS, ROWS, COLUMNS, k, 1, a, k, b, COLUMNS, 0, s, COLUMNS);
	else if (wide)
		d[0] = ((dot_d *)x->function)(k, a, 1, b, 1);
	else
		s[0] = ((dot_f *)x->function)(k, a, 1, b, 1);
	sum = wide ? d[0] : s[0];
	for (size_t i = 0; x->st == HU_OK && gemm && i < ROWS * COLUMNS; i++)
		if ((wide ? d[i] : s[i]) != sum)
			x->st = hu_fail(HU_EUNABLE, "outputs of the same terms differ: %.17g and %.17g", sum,
				wide ? d[i] : s[i]);
	return answer(x, sum);
}

/* Makes the box of a function of a BLAS. */
static void
box_of(hu_tree_box *x, const char *name, size_t n, void (*function)(void))
{
	memset(x, 0, sizeof *x);
	x->op = name;
	x->n = n;
	x->products = 1;
	x->sum = run_blas;
	x->function = function;
	x->term = x->acc = hu_format_of(strstr(name, "_d") ? HU_FP64 : HU_FP32);
	if (function)
		room(x, ROWS, COLUMNS);
}

hu_status
hu_tree_box_blas(hu_tree_box *x, const char *name, size_t n)
{
	box_of(x, name, n, hu_blas_symbol(name));
	return x->function ? HU_OK : hu_fail(HU_EABSENT, "no %s: %s", name, hu_blas_describe());
}

static double
run_library(void *to, const double *terms, size_t n)
{
	hu_tree_box *x = to;
	double sum = NAN;

	HU_ASSERT(n == x->library->terms);
	if (x->st == HU_OK)
		x->st = hu_library_ask(x->library, x->which, terms, &sum);
	return answer(x, sum);
}

hu_status
hu_tree_box_library(hu_tree_box *x, hu_library *l, size_t i)
{
	if (l->handle) {
		box_of(x, l->sum[i].what, l->terms, hu_library_function(l, i));
		return HU_OK;
	}
	*x = (hu_tree_box){ .op = l->sum[i].what,
		.n = l->terms,
		.sum = run_library,
		.library = l,
		.which = i,
		.term = hu_format_of(l->sum[i].wide ? HU_FP64 : HU_FP32) };
	x->acc = x->term;
	return HU_OK;
}

void
hu_tree_box_close(hu_tree_box *x)
{
	if (x->machine)
		x->backend->close(x->machine);
	if (x->program)
		hu_program_free(x->program);
	free(x->last);
	free(x->values[0]);
	free(x->values[1]);
	memset(x, 0, sizeof *x);
}
