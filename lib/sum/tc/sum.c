/* SPDX-License-Identifier: Apache-2.0
   Reads, checks, resolves and prints what a specification says of a tensor core. */
#include "lib/sum/tc/sum.h"

#include "lib/base/str.h"
#include "lib/number/block/block.h"
#include "lib/sum/tc/tc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const archs[HU_TC_ARCHS] = { "volta", "turing", "ampere", "ada", "hopper", "blackwell",
	"rtxblackwell" };
static const char *const paths[] = { "mma", "wgmma", "tcgen05" };

const char *
hu_tc_arch_name(hu_tc_arch arch)
{
	return archs[arch];
}
const char *
hu_tc_path_name(int path)
{
	return paths[path >> 1];
}

hu_status
hu_sum_tc_arch(hu_sum *s, const char *word)
{
	const char *near;

	for (int i = 0; word && i < HU_TC_ARCHS; i++)
		if (!strcmp(archs[i], word)) {
			s->arch = (hu_tc_arch)i;
			return HU_OK;
		}
	near = word ? hu_nearest(word, archs, HU_TC_ARCHS) : NULL;
	return hu_fail(HU_EINVAL,
		"summation model tc: %s '%s'%s%s; known: volta, turing, ampere, ada, hopper, blackwell, rtxblackwell",
		word ? "unknown architecture" : "an architecture is needed, as in tc:hopper, not", word ? word : "",
		near ? "; did you mean " : "", near ? near : "");
}

static hu_status
set_path(hu_sum *s, const char *word)
{
	for (int i = 0; i < 3; i++)
		if (!strcmp(paths[i], word)) {
			s->path = 1 << i;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "summation model tc: unknown path '%s'; known: mma, wgmma, tcgen05", word);
}

/* Reads the value of in= or in2=: a format, or a block format whose scales some unit takes. */
static hu_status
set_operands(hu_sum *s, hu_format_id *in, const char *word)
{
	int first = s->in == HU_NO_FORMAT && s->in2 == HU_NO_FORMAT;
	hu_block b;

	if (strncasecmp(word, "mx", 2) && strncasecmp(word, "nv", 2))
		return s->group ? hu_fail(HU_EINVAL,
					  "summation model tc: %s has no scales, but the other operands have", word)
				: hu_format_find(word, in);
	HU_TRY(hu_block_find(word, &b));
	if (b.element == HU_NO_FORMAT)
		return hu_fail(HU_EINVAL,
			"summation model tc: no unit takes %s; known: mxfp8e4m3, mxfp8e5m2, mxfp6e3m2, mxfp6e2m3, "
			"mxfp4, mxfp4x16, nvfp4",
			word);
	if (!first && (s->group != (int)b.size || s->scale != b.scale))
		return hu_fail(HU_EINVAL,
			"summation model tc: %s does not mix with the other operands, whose scales differ or are "
			"missing",
			word);
	*in = b.element;
	s->group = (int)b.size;
	s->scale = b.scale;
	return HU_OK;
}

static hu_status
set_promote(hu_sum *s, const char *word)
{
	char *end;
	long n = strtol(word, &end, 10);

	if (end == word || *end || n < 1 || n > 1 << 24)
		return hu_fail(HU_EINVAL,
			"summation model tc: promote=%s: after how many products, from 1 to 2^24, is the sum added to "
			"a wider accumulator? DeepSeek-V3 says promote=128",
			word);
	s->n = (int)n;
	return HU_OK;
}

hu_status
hu_sum_tc_key(hu_sum *s, const char *key, const char *word)
{
	if (!strcmp(key, "in"))
		return set_operands(s, &s->in, word);
	if (!strcmp(key, "in2"))
		return set_operands(s, &s->in2, word);
	if (!strcmp(key, "out"))
		return hu_format_find(word, &s->out);
	if (!strcmp(key, "path"))
		return set_path(s, word);
	if (!strcmp(key, "promote"))
		return set_promote(s, word);
	return hu_fail(
		HU_EINVAL, "summation model tc: unknown key '%s'; known: in, in2, out, outer, path, promote", key);
}

void
hu_sum_operand(hu_sum s, hu_format_id f, char *to, size_t size)
{
	const char *name, *summary;
	hu_block b;

	snprintf(to, size, "%s", hu_format_name(f));
	for (int i = 0; s.group && (name = hu_block_row(i, &summary)); i++)
		if (hu_block_find(name, &b) == HU_OK && b.element == f && b.scale == s.scale) {
			snprintf(to, size, "%s", name);
			if ((int)b.size != s.group)
				snprintf(to, size, "%sx%d", name, s.group);
		}
}

/* Refuses operands for which no instruction takes the scales. e8m0 scales come one per 32 elements; two fp4 operands
   may also have one e8m0 or e4m3 scale per 16. */
static hu_status
check_scaled(const hu_sum *s, const hu_tc *row)
{
	int fp4 = s->in == HU_E2M1 && (s->in2 == HU_E2M1 || s->in2 == HU_NO_FORMAT);
	char name[40];

	hu_sum_operand(*s, s->in, name, sizeof name);
	if (row->kind < 0)
		return hu_fail(HU_EINVAL,
			"summation model tc: %s has no instruction for %s%s%s; blackwell and rtxblackwell have one",
			archs[s->arch], name, s->path ? " on path " : "", s->path ? hu_tc_path_name(s->path) : "");
	if (!(s->scale == HU_E8M0 && (s->group == 32 || (s->group == 16 && fp4))) &&
		!(s->scale == HU_E4M3 && s->group == 16 && fp4))
		return hu_fail(HU_EINVAL,
			"summation model tc: no instruction takes %s with a scale per %d; the scales are one e8m0 per "
			"32, and for fp4 also one e8m0 or e4m3 per 16",
			name, s->group);
	return s->out == HU_NO_FORMAT || s->out == HU_FP32
		       ? HU_OK
		       : hu_fail(HU_EINVAL, "summation model tc: products of %s have fp32 output alone", name);
}

/* Refuses operands that the architecture, or the path, has no instruction for. */
static hu_status
no_row(const hu_sum *s, hu_format_id in)
{
	return hu_fail(HU_EINVAL, "summation model tc: %s has no instruction for %s operands%s%s", archs[s->arch],
		hu_format_name(in), s->path ? " on path " : "", s->path ? hu_tc_path_name(s->path) : "");
}

/* Refuses a promotion that no kernel can perform on the unit of this row: an instruction takes all of its products. */
static hu_status
check_promote(const hu_sum *s, const hu_tc *row)
{
	int step = row->l * (row->kind == HU_TC_HALVES ? 2 : 1);

	if (!s->n)
		return HU_OK;
	if (s->group || row->kind == HU_TC_CHAIN)
		return hu_fail(HU_EINVAL, "summation model tc: promote= is not for %s operands: leave it out",
			s->group ? "block-scaled" : "fp64");
	return s->n % step
		       ? hu_fail(HU_EINVAL,
				 "summation model tc: promote=%d: an instruction of %s adds %d products of %s: give a "
				 "multiple of that",
				 s->n, archs[s->arch], step, hu_format_name(s->in))
		       : HU_OK;
}

/* Checks all keys that are given against tc.def, and sets *row. */
static hu_status
check_tc(const hu_sum *s, hu_tc *row)
{
	hu_format_id in = s->in == HU_FP32 ? HU_TF32 : s->in, in2 = s->in2 == HU_NO_FORMAT ? in
								    : s->in2 == HU_FP32    ? HU_TF32
											   : s->in2;
	hu_tc other;
	int found = 0;

	*row = hu_tc_of(s->arch, in, s->path);
	if (in == HU_NO_FORMAT)
		return s->in2 == HU_NO_FORMAT ? HU_OK : hu_fail(HU_EINVAL, "summation model tc: in2= needs in= too");
	if (s->group) {
		*row = hu_tc_of_sum(*s);
		HU_TRY(check_scaled(s, row));
		return check_promote(s, row);
	}
	if (row->kind < 0)
		return no_row(s, in);
	for (int p = 1; p < HU_TC_PATHS; p <<= 1)
		found += hu_tc_of(s->arch, in, p).kind >= 0 && hu_tc_of(s->arch, in, p).kind != row->kind;
	if (!s->path && found)
		return hu_fail(HU_EINVAL,
			"summation model tc: %s has different instructions for %s: give path=mma or path=%s",
			archs[s->arch], hu_format_name(in), s->arch == HU_TC_HOPPER ? "wgmma" : "tcgen05");
	HU_TRY(check_promote(s, row));
	other = hu_tc_of(s->arch, in2, s->path);
	if (other.kind < 0)
		return no_row(s, in2);
	if (in2 != in && (hu_format_of(in).bits > 8 || hu_format_of(in2).bits > 8))
		return hu_fail(HU_EINVAL, "summation model tc: operands of %s and %s do not mix", hu_format_name(in),
			hu_format_name(in2));
	if (s->out == HU_NO_FORMAT || s->out == (row->kind == HU_TC_CHAIN ? HU_FP64 : HU_FP32) ||
		(s->out == HU_FP16 && row->status16 != HU_TC_N))
		return HU_OK;
	return hu_fail(HU_EINVAL, "summation model tc: %s has no %s output of %s operands", archs[s->arch],
		hu_format_name(s->out), hu_format_name(in));
}

hu_status
hu_sum_tc_check(const hu_sum *s)
{
	hu_tc row;

	return check_tc(s, &row);
}

/* Refuses operands of format f where the model names another. fp32 operands may be named tf32. */
static hu_status
same_format(hu_format_id given, hu_format_id f)
{
	if (given == f || (given == HU_TF32 && f == HU_FP32))
		return HU_OK;
	return hu_fail(HU_EINVAL, "summation model tc: in=%s, but the operands are %s", hu_format_name(given),
		hu_format_name(f));
}

hu_status
hu_sum_tc_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc)
{
	hu_tc row;

	if (s->in != HU_NO_FORMAT) {
		HU_TRY(same_format(s->in, a));
		HU_TRY(same_format(s->in2 == HU_NO_FORMAT ? s->in : s->in2, b));
	}
	s->in = a == HU_FP32 ? HU_TF32 : a;
	s->in2 = b == HU_FP32 ? HU_TF32 : b;
	HU_TRY(check_tc(s, &row));
	if (s->out == HU_NO_FORMAT)
		s->out = row.kind == HU_TC_CHAIN                     ? HU_FP64
			 : acc == HU_FP16 && row.status16 != HU_TC_N ? HU_FP16
								     : HU_FP32;
	s->acc = s->out;
	if (row.kind == HU_TC_CHAIN)
		s->id = HU_SUM_FMA;
	return HU_OK;
}

void
hu_sum_tc_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to)
{
	for (int arch = 0; arch < HU_TC_ARCHS; arch++)
		for (int path = 1; path < HU_TC_PATHS; path *= 2) {
			s.arch = (hu_tc_arch)arch;
			s.path = path;
			s.n = 0;
			take(to, s);
			for (s.n = 16; (size_t)s.n < longest && s.n <= 1024; s.n *= 2)
				take(to, s);
		}
}

void
hu_sum_tc_print(hu_sum s, const char *outer, char *out, size_t size)
{
	char in[48] = "", in2[48] = "", to[32] = "", promote[24] = "", name[40];

	if (s.in != HU_NO_FORMAT)
		snprintf(in, sizeof in, ",in=%s", (hu_sum_operand(s, s.in, name, sizeof name), name));
	if (s.in2 != HU_NO_FORMAT && s.in2 != s.in)
		snprintf(in2, sizeof in2, ",in2=%s", (hu_sum_operand(s, s.in2, name, sizeof name), name));
	if (s.out != HU_NO_FORMAT)
		snprintf(to, sizeof to, ",out=%s", hu_format_name(s.out));
	if (s.n)
		snprintf(promote, sizeof promote, ",promote=%d", s.n);
	snprintf(out, size, "tc:%s%s%s%s%s%s%s%s", archs[s.arch], in, in2, to, s.path ? ",path=" : "",
		s.path ? hu_tc_path_name(s.path) : "", promote, outer);
}
