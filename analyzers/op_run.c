/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op_run.h"

#include "analyzers/rowdot.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/sum/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the last "KEY=…" among the --set; NULL where there is none. */
static const char *
setting(const hu_args *args, const char *key)
{
	const char *s, *found = NULL;
	size_t length = strlen(key);

	for (int i = 0; (s = hu_args_nth(args, "set", i)); i++)
		if (!strncmp(s, key, length) && s[length] == '=')
			found = s + length + 1;
	return found;
}

/* Attributes of the operator from every other --set. */
static hu_status
attributes(hu_op_run *r, const hu_args *args)
{
	const char *s, *eq;

	for (int i = 0; (s = hu_args_nth(args, "set", i)); i++) {
		char key[16] = "";
		double x;
		eq = strchr(s, '=');
		if (!eq || eq == s || eq - s >= (ptrdiff_t)sizeof key)
			return hu_fail(HU_EINVAL, "--set %s is no key=value", s);
		memcpy(key, s, (size_t)(eq - s));
		if (!strcmp(key, "in") || !strcmp(key, "out") || !strcmp(key, "mode"))
			continue;
		char all[256] = " ", word[24];
		snprintf(all, sizeof all, " %s ", r->call.op && r->call.op->attrs ? r->call.op->attrs : "");
		snprintf(word, sizeof word, " %s ", key);
		if (!strstr(all, word))
			return hu_fail(HU_EINVAL, "--set %s: the operator has no attribute '%s'; known: in out mode%s", s, key, all);
		if (r->call.nattr == HU_MAX_ATTR)
			return hu_fail(HU_EINVAL, "--set: more than %d attributes", HU_MAX_ATTR);
		if (hu_parse_real(eq + 1, &x))
			hu_attr_set(&r->call, key, x);
		else
			hu_attr_set_text(&r->call, key, eq + 1);
	}
	return HU_OK;
}

static hu_status
files(hu_op_run *r, const hu_args *args)
{
	const char *s;
	int have = 0;

	for (int i = 0; (s = hu_args_nth(args, "in", i)); i++) {
		int at = s[0] - 'a';
		if (at < 0 || at >= HU_OP_INPUTS || s[1] != '=' || (have >> at & 1))
			return hu_fail(HU_EINVAL, "--in %s: a=FILE, b=FILE, ... are needed, each once", s);
		HU_TRY(hu_npy_read(&r->file[at], s + 2));
		have |= 1 << at;
		r->nin = at + 1 > r->nin ? at + 1 : r->nin;
	}
	for (int i = 0; i < r->nin; i++)
		if (!(have >> i & 1))
			return hu_fail(HU_EINVAL, "--in %c=FILE is missing", 'a' + i);
	return r->nin ? HU_OK : hu_fail(HU_EINVAL, "--in a=FILE is needed");
}

static int
is_double(const hu_npy *a)
{
	return !strcmp(a->dtype, "f8") || !strcmp(a->dtype, "i8") || !strcmp(a->dtype, "u8") || !strcmp(a->dtype, "i4") || !strcmp(a->dtype, "u4");
}

static hu_status
formats(hu_op_run *r, const hu_args *args)
{
	const char *in = setting(args, "in"), *out = setting(args, "out"), *mode = setting(args, "mode"), *sum = hu_args_text(args, "sum");
	hu_format_id result = HU_NO_FORMAT;

	r->in = is_double(&r->file[0]) ? HU_FP64 : HU_FP32;
	r->sum = hu_sum_default();
	if (sum)
		HU_TRY(hu_sum_parse(sum, &r->sum));
	if (in)
		HU_TRY(hu_format_find(in, &r->in));
	else if (r->sum.id == HU_SUM_TC && r->sum.in != HU_NO_FORMAT)
		r->in = r->sum.in;
	if (!sum && r->in == HU_FP64)
		r->sum.acc = HU_FP64;
	if (out)
		HU_TRY(hu_format_find(out, &result));
	if (mode)
		HU_TRY(hu_mode_find(mode, &r->call.mode));
	hu_format_id in2 = r->sum.id == HU_SUM_TC && r->sum.in2 != HU_NO_FORMAT ? r->sum.in2 : r->in;
	if (r->dot) {
		HU_TRY(hu_sum_resolve(&r->sum, r->in, in2, result));
		r->out = out ? hu_format_of(result) : hu_part_format(r->sum);
		return HU_OK;
	}
	r->out = hu_format_of(out ? result : r->in);
	r->call.sum = r->sum;
	r->call.fmt.in = r->in;
	r->call.fmt.out = r->out.id;
	r->call.fmt.acc = r->call.fmt.compute = r->in == HU_FP64 ? HU_FP64 : HU_FP32;
	return HU_OK;
}

/* An element as the format F takes it; a tensor core chops words of float32 to tf32. */
static double
operand(const hu_npy *a, size_t i, hu_format f, int chop)
{
	if (chop && !strcmp(a->dtype, "f4")) {
		uint32_t u;
		memcpy(&u, (const char *)a->data + 4 * i, sizeof u);
		return (double)hu_from_bits32(hu_tc_tf32(u));
	}
	return hu_round(hu_npy_real(a, i), f, chop ? HU_RZ : HU_RNE, 0, 0);
}

hu_status
hu_op_run_open(hu_op_run *r, const hu_args *args)
{
	static const char *const ways[] = { "emulate", "reference", "bound" };
	const char *as = hu_args_text(args, "as"), *name = args->nrest ? args->rest[0] : NULL;
	const char *names[64] = { "dot" };
	int n = 1;
	long long seed;

	memset(r, 0, sizeof *r);
	while (r->as < 3 && strcmp(ways[r->as], as))
		r->as++;
	if (r->as == 3)
		return hu_fail(HU_EINVAL, "--as %s: emulate, reference or bound is needed", as);
	if (args->nrest != 1)
		return hu_fail(HU_EINVAL, "one operator is needed: halfulp op dot --in a=A.npy --in b=B.npy --out D.npy");
	for (; n < 64 && hu_op_at(n - 1); n++)
		names[n] = hu_op_at(n - 1)->name;
	r->dot = !strcmp(name, "dot");
	r->call.op = r->dot ? NULL : hu_op_find(name);
	if (!r->dot && !r->call.op) {
		const char *near = hu_nearest(name, names, n);
		return hu_fail(HU_EINVAL, "unknown operator '%s'%s%s", name, near ? "; did you mean " : "", near ? near : "");
	}
	strcpy(r->call.seed_name, "op");
	HU_TRY(hu_args_int(args, "seed", 0, 0x7fffffffffffffffLL, &seed));
	r->env.seed = (uint64_t)seed;
	HU_TRY(attributes(r, args));
	HU_TRY(files(r, args));
	return formats(r, args);
}

static void
rounded_once(hu_op_run *r)
{
	for (size_t i = 0; i < r->n && r->as == HU_AS_REFERENCE; i++) {
		mpfr_t odd;
		int inexact;
		mpfr_init2(odd, 53);
		inexact = mpfr_set(odd, r->exact[i], MPFR_RNDZ);
		double x = mpfr_get_d(odd, MPFR_RNDZ);
		if (r->out.id == HU_FP64)
			x = mpfr_get_d(r->exact[i], MPFR_RNDN);
		else if (inexact && hu_isfinite(x))
			x = hu_from_bits64(hu_bits64(x) | 1); /* to odd, then once more: as if once (p <= 51) */
		r->value[i] = hu_round(x, r->out, HU_RNE, 0, 0);
		mpfr_clear(odd);
	}
}

static hu_status
dots(hu_op_run *r, int all)
{
	const hu_npy *f = r->file;
	size_t k = f[0].rank ? f[0].shape[f[0].rank - 1] : 1, rows = k ? f[0].count / k : 0;
	int chop = r->sum.id == HU_SUM_TC && r->sum.in == HU_TF32;

	if (r->nin < 2 || r->nin > 3)
		return hu_fail(HU_EINVAL, "dot takes a and b, and c where it is given");
	if (f[1].count != f[0].count || f[1].rank != f[0].rank || memcmp(f[0].shape, f[1].shape, (size_t)f[0].rank * sizeof *f[0].shape) || (r->nin == 3 && f[2].count != rows))
		return hu_fail(HU_EFILE, "dot: a and b must have one shape, and c an element for every row (%zu rows of %zu)", rows, k);
	double *x = hu_xmalloc((2 * f[0].count + rows + 1) * sizeof *x), *y = x + f[0].count, *c = y + f[0].count;
	hu_format in = hu_format_of(r->in), in2 = hu_format_of(r->sum.id == HU_SUM_TC ? r->sum.in2 : r->in);
	for (size_t i = 0; i < f[0].count; i++) {
		x[i] = operand(&f[0], i, in, chop);
		y[i] = operand(&f[1], i, in2, chop);
	}
	for (size_t i = 0; r->nin == 3 && i < rows; i++)
		c[i] = hu_round(hu_npy_real(&f[2], i), r->sum.id == HU_SUM_TC ? hu_format_of(r->sum.out) : r->out, HU_RNE, 0, 0);
	hu_rowdot d = { k, x, y, r->nin == 3 ? c : NULL, r->sum, r->out.id, r->env.seed };
	r->n = rows;
	r->value = hu_xmalloc((rows + 1) * sizeof *r->value);
	if (all) {
		r->bound = hu_xmalloc((rows + 1) * sizeof *r->bound);
		r->exact = hu_xmalloc((rows + 1) * sizeof *r->exact);
	}
#pragma omp parallel for schedule(dynamic, 64)
	for (size_t i = 0; i < rows; i++) {
		r->value[i] = hu_rowdot_value(&d, i);
		if (all) {
			mpfr_init(r->exact[i]);
			hu_rowdot_exact(&d, i, r->exact[i]);
			r->bound[i] = hu_rowdot_bound(&d, i);
		}
	}
	r->shape = hu_shape1(rows);
	free(x);
	return HU_OK;
}

static hu_status
operator_of_table(hu_op_run *r, int all)
{
	hu_tensor *in[HU_OP_INPUTS], y[8], *out[8];
	hu_shape shapes[HU_OP_INPUTS], results[8];
	const hu_op *op = r->call.op;
	hu_status st;

	if (r->nin < op->min_in || (op->max_in >= 0 && r->nin > op->max_in) || op->nout > 8 || !op->nout)
		return hu_fail(HU_EINVAL, "op %s takes %d to %d operands and gives an array, not %d operands", op->name, op->min_in, op->max_in, r->nin);
	for (int i = 0; i < r->nin; i++) {
		const hu_npy *f = &r->file[i];
		hu_tensor *t = &r->tensor[i];
		if (f->rank > HU_RANK || !f->count)
			return hu_fail(HU_EFILE, "operand %c has rank %d and %zu elements: rank 0 to %d and one element or more are needed", 'a' + i, f->rank, f->count, HU_RANK);
		t->format = r->in;
		t->shape.rank = f->rank;
		for (int d = 0; d < HU_RANK; d++)
			t->shape.d[d] = d < f->rank ? f->shape[d] : 1;
		t->n = f->count;
		t->data = hu_xmalloc(t->n * hu_element_size(t->format));
		for (size_t k = 0; k < t->n; k++)
			hu_put(t, k, hu_round(hu_npy_real(f, k), hu_format_of(r->in), HU_RNE, 0, 0));
		shapes[i] = t->shape;
		in[i] = t;
	}
	r->call.nin = r->nin;
	r->call.nout = op->nout;
	memset(results, 0, sizeof results);
	st = op->shape(&r->call, shapes, results);
	if (st != HU_OK)
		return HU_EFILE; /* the command line may be right, the arrays are not */
	for (int i = 0; i < op->nout; i++) {
		y[i] = (hu_tensor){ r->out.id, results[i], hu_count(results[i]), NULL };
		y[i].data = hu_xcalloc(y[i].n, hu_element_size(r->out.id));
		out[i] = &y[i];
	}
	r->shape = results[0];
	r->n = y[0].n;
	r->value = hu_xmalloc((r->n + 1) * sizeof *r->value);
	st = op->emulate(&r->call, in, out, &r->env);
	for (size_t k = 0; k < r->n; k++)
		r->value[k] = hu_get(&y[0], k);
	for (int i = 0; i < op->nout; i++)
		free(y[i].data);
	if (st != HU_OK || !all)
		return st;
	size_t *element = hu_xmalloc((r->n + 1) * sizeof *element);
	r->bound = hu_xcalloc(r->n + 1, sizeof *r->bound);
	r->exact = hu_xmalloc((r->n + 1) * sizeof *r->exact);
	for (size_t k = 0; k < r->n; k++) {
		element[k] = k;
		mpfr_init2(r->exact[k], 200);
	}
	st = op->reference(&r->call, in, 0, element, r->n, r->exact);
	if (st == HU_OK && op->bound)
		st = op->bound(&r->call, in, 0, element, r->n, r->bound);
	free(element);
	return st;
}

hu_status
hu_op_run_all(hu_op_run *r, int judged)
{
	int all = judged || r->as != HU_AS_EMULATE;

	HU_TRY(r->dot ? dots(r, all) : operator_of_table(r, all));
	rounded_once(r);
	return HU_OK;
}

hu_status
hu_op_run_write(const hu_op_run *r, const char *path)
{
	const double *v = r->as == HU_AS_BOUND ? r->bound : r->value;
	float *x = hu_xmalloc((r->n + 1) * sizeof *x);
	int wide = r->as == HU_AS_BOUND;
	hu_status st;

	for (size_t i = 0; i < r->n; i++) {
		x[i] = (float)v[i];
		if (hu_isnan(v[i]) && r->out.p == 11 && r->out.emax == 15 && r->sum.id == HU_SUM_TC)
			x[i] = hu_from_bits32(0x7fffe000); /* fp16's 0x7fff, widened */
		wide |= !hu_isnan(v[i]) && (double)x[i] != v[i];
	}
	st = hu_npy_write(path, wide ? "f8" : "f4", r->shape.rank, r->shape.d, wide ? (const void *)v : (const void *)x);
	free(x);
	return st;
}

void
hu_op_run_close(hu_op_run *r)
{
	for (int i = 0; i < HU_OP_INPUTS; i++) {
		if (r->file[i].data)
			hu_npy_release(&r->file[i]);
		free(r->tensor[i].data);
	}
	for (size_t i = 0; r->exact && i < r->n; i++)
		mpfr_clear(r->exact[i]);
	free(r->exact);
	free(r->bound);
	free(r->value);
}
