/* SPDX-License-Identifier: Apache-2.0
   Reads, checks, resolves and prints the specifications of summation models. */
#include "lib/sum/sum.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/block.h"
#include "lib/sum/tc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct { const char *name, *summary; int takes; } rows[] = {
#define SUM(id, name, takes, summary) { name, summary, takes },
#include "lib/sum/sums.def"
#undef SUM
};

int
hu_sum_collective(hu_sum_id id)
{
	return rows[id].takes >= 3;
}
const char *hu_sum_name(hu_sum_id id) { return rows[id].name; }
const char *hu_sum_summary(hu_sum_id id) { return rows[id].summary; }

hu_sum
hu_sum_default(void)
{
	hu_sum s = { HU_SUM_FMA, 0, HU_FP32, HU_NO_FORMAT, HU_RNE, 0, HU_TC_VOLTA, 0, HU_NO_FORMAT, HU_NO_FORMAT,
		HU_NO_FORMAT, HU_NO_FORMAT, 0, 0 };

	return s;
}

static const char *const archs[HU_TC_ARCHS] = { "volta", "turing", "ampere", "ada", "hopper", "blackwell",
	"rtxblackwell" };
static const char *const paths[] = { "mma", "wgmma", "tcgen05" };

const char *hu_tc_arch_name(hu_tc_arch arch) { return archs[arch]; }
const char *hu_tc_path_name(int path) { return paths[path >> 1]; }

static hu_status
set_arch(hu_sum *s, const char *word)
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

/* Reads N, or N:G where `nodes` is set. */
static hu_status
set_ranks(hu_sum *s, const char *name, const char *text, int nodes)
{
	char *end, *last;
	long n = strtol(text, &end, 10), g = nodes && *end == ':' ? strtol(end + 1, &last, 10) : 1;

	if (nodes && *end == ':' && last > end + 1)
		end = last;
	else if (nodes)
		g = 0;
	if (end == text || *end || n < 1 || n > 1 << 24 || g < 1 || g > n)
		return hu_fail(HU_EINVAL,
			nodes ? "summation model %s needs N ranks, from 1 to 2^24, and G of them a node, from 1 to N, "
				"as "
				"in %s:64:8"
			      : "summation model %s needs a number of ranks from 1 to 2^24, as in %s:64",
			name, name);
	s->n = (int)n;
	s->node = nodes ? (int)g : 0;
	return HU_OK;
}

static hu_status
set_name(hu_sum *s, char *word)
{
	const char *names[HU_SUMS];
	char *colon = strchr(word, ':'), *end;
	int i;

	if (colon)
		*colon = 0;
	for (i = 0; i < HU_SUMS; i++)
		names[i] = rows[i].name;
	for (i = 0; i < HU_SUMS && strcmp(rows[i].name, word); i++)
		;
	if (i == HU_SUMS) {
		const char *near = hu_nearest(word, names, HU_SUMS);
		return hu_fail(HU_EINVAL,
			"unknown summation model '%s'%s%s; known: fma, sequential, chunk:N, openblas:N, pairwise, "
			"kahan, neumaier, dot2, fabsum:N, splitk:N, promote:N, tc:ARCH, "
			"ring:N, tree:N, halving:N, hier:N:G",
			word, near ? "; did you mean " : "", near ? near : "");
	}
	s->id = (hu_sum_id)i;
	if (rows[i].takes == 2)
		return set_arch(s, colon ? colon + 1 : NULL);
	if (!rows[i].takes)
		return colon ? hu_fail(HU_EINVAL, "summation model %s takes no :N", word) : HU_OK;
	if (rows[i].takes >= 3)
		return set_ranks(s, word, colon ? colon + 1 : "", rows[i].takes == 4);
	long n = colon ? strtol(colon + 1, &end, 10) : 0;
	if (!colon || end == colon + 1 || *end || n < 1 || n > 1 << 24)
		return hu_fail(HU_EINVAL, "summation model %s needs a length from 1 to 2^24, as in %s:64", word, word);
	s->n = (int)n;
	return HU_OK;
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
set_bits(hu_sum *s, const char *word)
{
	char *end;
	long n = strtol(word, &end, 10);

	if (end == word || *end || n < 1 || n > 32)
		return hu_fail(HU_EINVAL, "summation model: bits=%s: 1 to 32 random bits are needed", word);
	s->bits = n == 32 ? 0 : (int)n;
	return HU_OK;
}

static hu_status
set_key(hu_sum *s, char *word)
{
	char *eq = strchr(word, '=');

	if (!eq)
		return hu_fail(HU_EINVAL, "summation model: '%s' is no key=value", word);
	*eq = 0;
	if (s->id == HU_SUM_TC) {
		if (!strcmp(word, "in"))
			return set_operands(s, &s->in, eq + 1);
		if (!strcmp(word, "in2"))
			return set_operands(s, &s->in2, eq + 1);
		if (!strcmp(word, "out"))
			return hu_format_find(eq + 1, &s->out);
		if (!strcmp(word, "path"))
			return set_path(s, eq + 1);
		if (strcmp(word, "outer"))
			return hu_fail(HU_EINVAL,
				"summation model tc: unknown key '%s'; known: in, in2, out, outer, path", word);
	}
	if (!strcmp(word, "acc"))
		return hu_format_find(eq + 1, &s->acc);
	if (!strcmp(word, hu_sum_collective(s->id) ? "wire" : "outer"))
		return hu_format_find(eq + 1, &s->outer);
	if (!strcmp(word, "mode"))
		return hu_mode_find(eq + 1, &s->mode);
	if (!strcmp(word, "bits"))
		return set_bits(s, eq + 1);
	return hu_fail(HU_EINVAL, "summation model: unknown key '%s'; known: acc, %s, mode, bits", word,
		hu_sum_collective(s->id) ? "wire" : "outer");
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
		return s->in2 == HU_NO_FORMAT ? HU_OK
						    : hu_fail(HU_EINVAL, "summation model tc: in2= needs in= too");
	if (s->group) {
		*row = hu_tc_of_sum(*s);
		return check_scaled(s, row);
	}
	if (row->kind < 0)
		return no_row(s, in);
	for (int p = 1; p < HU_TC_PATHS; p <<= 1)
		found += hu_tc_of(s->arch, in, p).kind >= 0 && hu_tc_of(s->arch, in, p).kind != row->kind;
	if (!s->path && found)
		return hu_fail(HU_EINVAL,
			"summation model tc: %s has different instructions for %s: give path=mma or path=%s",
			archs[s->arch], hu_format_name(in), s->arch == HU_TC_HOPPER ? "wgmma" : "tcgen05");
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
hu_sum_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc)
{
	hu_tc row;

	if (s->id != HU_SUM_TC)
		return HU_OK;
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

/* model.h computes in double, exactly or rounded to odd. So accumulators have up to 25 significant bits, or are fp64
   as the hardware has it. */
static hu_status
check(const hu_sum *s)
{
	hu_tc row;

	if (s->id == HU_SUM_TC)
		HU_TRY(check_tc(s, &row));
	if (s->bits && s->mode != HU_SR)
		return hu_fail(HU_EINVAL, "summation model: bits=%d is for mode=SR alone", s->bits);
	hu_format_id ids[2] = { s->acc, s->outer == HU_NO_FORMAT ? s->acc : s->outer };

	for (int i = 0; i < 2; i++) {
		hu_format f = hu_format_of(ids[i]);
		if (f.id == HU_FP64 ? s->mode != HU_RNE : f.p > 25 || !hu_has_sign(f))
			return hu_fail(HU_EINVAL,
				"summation model: there are no sums in %s by mode %s; an accumulator has up to 25 "
				"significant bits and a sign, or is fp64 with mode=RNE",
				hu_format_name(f.id), hu_mode_name(s->mode));
	}
	return HU_OK;
}

/* Refuses empty words between commas, and a key that is given twice. */
static hu_status
well_formed(const char *text)
{
	for (const char *word = text, *end; word; word = *end ? end + 1 : NULL) {
		size_t key = strcspn(word, "=,");
		end = word + strcspn(word, ",");
		if (end == word)
			return hu_fail(HU_EINVAL,
				"summation model '%s': %s; write NAME[:N][,key=value...], such as fma,acc=fp16", text,
				*text ? "nothing stands before or behind a comma" : "it is empty");
		for (const char *before = text; before < word && word[key] == '='; before += strcspn(before, ",") + 1)
			if (!strncasecmp(before, word, key + 1))
				return hu_fail(
					HU_EINVAL, "summation model '%s': %.*s= is there twice", text, (int)key, word);
	}
	return HU_OK;
}

hu_status
hu_sum_parse(const char *text, hu_sum *out)
{
	HU_TRY(well_formed(text));
	char *all = hu_xstrdup(text), *save = NULL;
	char *word = strtok_r(all, ",", &save);
	hu_status st = HU_OK;

	*out = hu_sum_default();
	st = set_name(out, word);
	while (st == HU_OK && (word = strtok_r(NULL, ",", &save)))
		st = set_key(out, word);
	free(all);
	return st == HU_OK ? check(out) : st;
}

void
hu_sum_print(hu_sum s, char *out, size_t size)
{
	char n[32] = "", outer[32] = "", mode[16] = "", bits[16] = "", in[48] = "", in2[48] = "", to[32] = "", name[40];

	if (rows[s.id].takes == 1 || rows[s.id].takes == 3)
		snprintf(n, sizeof n, ":%d", s.n);
	if (rows[s.id].takes == 4)
		snprintf(n, sizeof n, ":%d:%d", s.n, s.node);
	if (s.outer != HU_NO_FORMAT && (s.outer != s.acc || s.id == HU_SUM_PROMOTE || s.id == HU_SUM_TC))
		snprintf(outer, sizeof outer, ",%s=%s", hu_sum_collective(s.id) ? "wire" : "outer",
			hu_format_name(s.outer));
	if (s.mode != HU_RNE)
		snprintf(mode, sizeof mode, ",mode=%s", hu_mode_name(s.mode));
	if (s.bits)
		snprintf(bits, sizeof bits, ",bits=%d", s.bits);
	if (s.id != HU_SUM_TC) {
		snprintf(out, size, "%s%s,acc=%s%s%s%s", rows[s.id].name, n, hu_format_name(s.acc), outer, mode, bits);
		return;
	}
	if (s.in != HU_NO_FORMAT)
		snprintf(in, sizeof in, ",in=%s", (hu_sum_operand(s, s.in, name, sizeof name), name));
	if (s.in2 != HU_NO_FORMAT && s.in2 != s.in)
		snprintf(in2, sizeof in2, ",in2=%s", (hu_sum_operand(s, s.in2, name, sizeof name), name));
	if (s.out != HU_NO_FORMAT)
		snprintf(to, sizeof to, ",out=%s", hu_format_name(s.out));
	snprintf(out, size, "tc:%s%s%s%s%s%s%s", archs[s.arch], in, in2, to, s.path ? ",path=" : "",
		s.path ? hu_tc_path_name(s.path) : "", outer);
}
