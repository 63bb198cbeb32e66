/* SPDX-License-Identifier: Apache-2.0
   Reads op's command line: the operator, its operands' files, attributes and formats. */
#include "analyzers/op/op_run.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/op/reduce/summed.h"
#include "lib/sum/table/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the value of the last "KEY=…" among the --set; NULL where there is none. */
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

/* Returns 1 for the keys of op itself: in, in.a … in.h, out, compute, mode. */
static int
own_key(const hu_op_run *r, const char *key)
{
	if (!strcmp(key, "in") || !strcmp(key, "out") || !strcmp(key, "mode") || (!r->dot && !strcmp(key, "compute")))
		return 1;
	return !strncmp(key, "in.", 3) && key[3] >= 'a' && key[3] < 'a' + HU_OP_INPUTS && !key[4];
}

static hu_status
unknown_key(const hu_op_run *r, const char *set, const char *key)
{
	char all[256];
	const char *names[32] = { "in", "out", "mode", "compute" }, *near;
	char *save = NULL;
	size_t n = r->dot ? 3 : 4;

	snprintf(all, sizeof all, "%s", !r->dot && r->call.op->attrs ? r->call.op->attrs : "");
	for (char *s = strtok_r(all, " ", &save); s && n < 32; s = strtok_r(NULL, " ", &save))
		names[n++] = s;
	near = hu_nearest(key, names, n);
	return hu_fail(HU_EINVAL,
		"--set %s: the operator has no attribute '%s'%s%s; known: in in.a in.b ... out mode%s%s", set, key,
		near ? "; did you mean " : "", near ? near : "", r->dot ? "" : " compute ",
		!r->dot && r->call.op->attrs ? r->call.op->attrs : "");
}

/* Reads the operator's attributes from every other --set. */
static hu_status
attributes(hu_op_run *r, const hu_args *args)
{
	const char *s, *eq;

	for (int i = 0; (s = hu_args_nth(args, "set", i)); i++) {
		char key[64] = "";
		double x;
		eq = strchr(s, '=');
		if (!eq || eq == s)
			return hu_fail(HU_EINVAL, "--set %s is no key=value", s);
		memcpy(key, s, eq - s < (ptrdiff_t)sizeof key ? (size_t)(eq - s) : sizeof key - 1);
		if (own_key(r, key))
			continue;
		if (r->dot || !hu_op_takes(r->call.op, key))
			return unknown_key(r, s, key);
		if (r->call.nattr == HU_MAX_ATTR)
			return hu_fail(HU_EINVAL, "--set: more than %d attributes", HU_MAX_ATTR);
		if (!eq[1])
			return hu_fail(HU_EINVAL, "--set %s: a value is needed after the =", s);
		if (!hu_attr_is_word(key) && hu_parse_real(eq + 1, &x))
			hu_attr_set(&r->call, key, x);
		else
			hu_attr_set_text(&r->call, key, eq + 1);
	}
	return hu_attr_check(&r->call);
}

static hu_status
files(hu_op_run *r, const hu_args *args)
{
	const char *s;
	int have = 0, most = r->dot ? 3 : r->call.op->max_in, least = r->dot ? 2 : r->call.op->min_in;

	for (int i = 0; (s = hu_args_nth(args, "in", i)); i++) {
		int at = s[0] - 'a';
		if (s[0] == 's' && (s[1] == 'a' || s[1] == 'b') && s[2] == '=') {
			hu_npy *scale = &r->scale[s[1] - 'a'];
			if (scale->data)
				return hu_fail(HU_EINVAL, "--in %s: s%c is there twice", s, s[1]);
			HU_TRY(hu_npz_pick(scale, s + 3));
			continue;
		}
		if (s[0] && s[1] == '=' && (at < 0 || at >= HU_OP_INPUTS))
			return hu_fail(HU_EINVAL,
				"--in %s: there is no operand %c; %s takes a, b, ... in this order (and sa, sb: scales "
				"of block-scaled operands)",
				s, s[0], args->rest[0]);
		if (at < 0 || at >= HU_OP_INPUTS || s[1] != '=' || (have >> at & 1))
			return hu_fail(HU_EINVAL,
				"--in %s: a=FILE, b=FILE, ... are needed, each once (and sa=FILE, sb=FILE: scales of "
				"block-scaled operands)",
				s);
		if (most >= 0 && at >= most)
			return hu_fail(HU_EINVAL, "--in %s: %s takes %d operands, a to %c", s, args->rest[0], most,
				'a' + most - 1);
		HU_TRY(hu_npz_pick(&r->file[at], s + 2));
		have |= 1 << at;
		r->nin = at + 1 > r->nin ? at + 1 : r->nin;
	}
	for (int i = 0; i < r->nin || i < least; i++)
		if (!(have >> i & 1))
			return hu_fail(HU_EINVAL, "--in %c=FILE is missing: %s takes %d operands or more", 'a' + i,
				args->rest[0], least);
	return HU_OK;
}

static int
is_double(const hu_npy *a)
{
	return !strcmp(a->dtype, "f8") || !strcmp(a->dtype, "i8") || !strcmp(a->dtype, "u8") ||
	       !strcmp(a->dtype, "i4") || !strcmp(a->dtype, "u4");
}

/* Refuses doubles that the format of the first operand does not hold, unless a format was given: they are not rounded
   silently. */
static hu_status
held(const hu_op_run *r, const char *in, const hu_args *args)
{
	char key[8] = "in.a";

	for (int i = 1; i < r->nin; i++) {
		const hu_npy *f = &r->file[i];
		hu_format to = hu_format_of(r->in[i]);
		key[3] = (char)('a' + i);
		if (in || setting(args, key) || strcmp(f->dtype, "f8") || r->in[i] != HU_FP32 ||
			r->sum.in != HU_NO_FORMAT)
			continue;
		for (size_t k = 0; k < f->count; k++) {
			double x = hu_npy_real(f, k);
			if (!hu_isnan(x) && hu_round(x, to, HU_RNE, 0, 0) != x)
				return hu_fail(HU_EINVAL,
					"operand %c has doubles, such as %.17g, that fp32 does not hold, and operand a "
					"is not of doubles: say --set in=fp64 to compute with them, or --set "
					"in.%c=fp32 to round them",
					'a' + i, x, 'a' + i);
		}
	}
	return HU_OK;
}

int
hu_op_every_sum(const hu_args *args)
{
	const char *sum = hu_args_text(args, "sum");

	return sum && !strcmp(sum, "all");
}

static hu_status
formats(hu_op_run *r, const hu_args *args)
{
	const char *in = setting(args, "in"), *out = setting(args, "out"), *mode = setting(args, "mode"),
		   *compute = setting(args, "compute"), *sum = hu_args_text(args, "sum"), *one;
	hu_format_id all = is_double(&r->file[0]) && !r->codes ? HU_FP64 : HU_FP32, result = HU_NO_FORMAT;
	char key[8] = "in.a";

	r->sum = hu_sum_default();
	r->every_sum = hu_op_every_sum(args);
	if (r->every_sum && !hu_args_given(args, "got"))
		return hu_fail(HU_EINVAL, "--sum all: --got FILE is needed, whose bits the models are tried on");
	if (r->every_sum)
		sum = NULL;
	if (sum)
		HU_TRY(hu_sum_parse(sum, &r->sum));
	if ((r->scale[0].data || r->scale[1].data) && !r->sum.group)
		return hu_fail(HU_EINVAL,
			"--in s%c=: scales belong to block-scaled sums, such as --sum tc:blackwell,in=mxfp8",
			r->scale[0].data ? 'a' : 'b');
	if (in)
		HU_TRY(hu_format_find(in, &all));
	else if (r->sum.in != HU_NO_FORMAT)
		all = r->sum.in;
	for (int i = 0; i < HU_OP_INPUTS; i++) {
		key[3] = (char)('a' + i);
		r->in[i] = i == 1 && r->sum.in2 != HU_NO_FORMAT ? r->sum.in2 : all;
		one = setting(args, key);
		if (one && i >= r->nin)
			return hu_fail(HU_EINVAL, "--set %s=%s: there is no operand %c (--in %c=FILE)", key, one,
				key[3], key[3]);
		if (one)
			HU_TRY(hu_format_find(one, &r->in[i]));
	}
	if (!sum && r->in[0] == HU_FP64)
		r->sum.acc = HU_FP64;
	if (mode)
		HU_TRY(hu_mode_find(mode, &r->call.mode));
	if ((r->dot || r->sum.group) && hu_mode_draws(r->call.mode))
		return hu_fail(HU_EINVAL,
			"--set mode=%s: this result is rounded by a mode that draws nothing; a sum rounds "
			"stochastically by --sum fma,acc=bf16,mode=SR",
			mode);
	HU_TRY(held(r, in, args));
	if (r->dot) {
		if (out)
			HU_TRY(hu_format_find(out, &result));
		HU_TRY(hu_sum_resolve(&r->sum, r->in[0], r->in[1], result));
		r->out = out ? hu_format_of(result) : hu_part_format(r->sum);
		return HU_OK;
	}
	r->call.fmt.out = r->in[0];
	if (out)
		HU_TRY(hu_format_find(out, &r->call.fmt.out));
	r->call.sum = r->sum;
	r->call.fmt.in = r->in[0];
	r->call.fmt.acc = r->call.fmt.compute = r->in[0] == HU_FP64 ? HU_FP64 : HU_FP32;
	if (hu_summed_takes(r->call.op) && r->every_sum)
		return hu_fail(HU_EINVAL,
			"--sum all: models are tried on products; of %s name the one that is meant, such as --sum "
			"sequential,acc=fp16",
			r->call.op->name);
	if (hu_summed_takes(r->call.op) && sum)
		HU_TRY(hu_summed_set(&r->call, r->sum));
	return compute ? hu_format_find(compute, &r->call.fmt.compute) : HU_OK;
}

static hu_status
way(hu_op_run *r, const char *as)
{
	const char *names[8] = { "emulate", "reference", "bound" }, *near;
	size_t n = 3;
	hu_str known;

	r->as = !strcmp(as, "reference") ? HU_AS_REFERENCE : !strcmp(as, "bound") ? HU_AS_BOUND : HU_AS_BACKEND;
	if (r->as != HU_AS_BACKEND || !strcmp(as, "emulate"))
		as = "cpu";
	for (int i = 0; hu_backend_at(i) && n < 8; i++)
		names[n++] = hu_backend_at(i)->name;
	if (hu_backend_find(as, &r->backend) == HU_OK)
		return HU_OK;
	near = hu_nearest(as, names, n);
	hu_str_init(&known);
	for (size_t i = 0; i < n; i++)
		hu_str_addf(&known, "%s%s", i ? ", " : "", names[i]);
	hu_fail(HU_EINVAL, "--as %s: no interpreter or back end of that name%s%s; known: %s", as,
		near ? "; did you mean " : "", near ? near : "", known.s);
	hu_str_release(&known);
	return HU_EINVAL;
}

static hu_status
operator_named(hu_op_run *r, const char *name)
{
	const char *names[256] = { "dot" }, *near;
	size_t n = 1;

	for (; n < 256 && hu_op_at((int)n - 1); n++)
		names[n] = hu_op_at((int)n - 1)->name;
	r->dot = !strcmp(name, "dot");
	r->call.op = r->dot ? NULL : hu_op_find(name);
	if (r->call.op && r->call.op->role == HU_ROLE_OPAQUE)
		return hu_fail(HU_EINVAL,
			"op %s: only recordings have such calls, and nothing computes them; halfulp op list names the "
			"operators that are computed",
			name);
	if (r->dot || r->call.op)
		return HU_OK;
	near = hu_nearest(name, names, n);
	return hu_fail(HU_EINVAL, "unknown operator '%s'%s%s; halfulp op list names them all", name,
		near ? "; did you mean " : "", near ? near : "");
}

hu_status
hu_op_run_open(hu_op_run *r, const hu_args *args)
{
	long long seed, result;

	memset(r, 0, sizeof *r);
	if (args->nrest != 1)
		return hu_fail(
			HU_EINVAL, "one operator is needed: halfulp op dot --in a=A.npy --in b=B.npy --out D.npy");
	HU_TRY(operator_named(r, args->rest[0]));
	HU_TRY(way(r, hu_args_text(args, "as")));
	HU_TRY(hu_gemm_find(hu_args_text(args, "as:gemm"), &r->gemm));
	strcpy(r->call.seed_name, "op");
	HU_TRY(hu_args_int(args, "seed", 0, 0x7fffffffffffffffLL, &seed));
	HU_TRY(hu_args_int(args, "result", 0, r->dot ? 0 : r->call.op->nout - 1, &result));
	r->env.seed = (uint64_t)seed;
	r->result = (int)result;
	r->codes = hu_args_given(args, "bits");
	HU_TRY(hu_args_real(args, "confidence", 0, 1, &r->confidence));
	if (!(r->confidence > 0 && r->confidence < 1))
		return hu_fail(HU_EINVAL, "--confidence %s: a probability between 0 and 1 is needed, such as 0.99",
			hu_args_text(args, "confidence"));
	HU_TRY(attributes(r, args));
	HU_TRY(files(r, args));
	return formats(r, args);
}
