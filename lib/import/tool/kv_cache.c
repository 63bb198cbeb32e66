/* SPDX-License-Identifier: Apache-2.0
   Caches of keys and values in a narrow format, as engines of language models store them: a cache is what a Concat
   makes of an input of four axes and the tokens at hand. Keys have a scale for each channel, values one for each token
   (KIVI, Liu et al. 2024); FP8 has one of each, too. Groups of neighbours along the axis that shares a scale may have
   one each. All readers, and the cache that the model gives out, get what is left. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/show.h"

#include <ctype.h>
#include <string.h>

enum { AXES = 4, TOKENS_OF_PAST = 2 };
enum { E4M3 = 17 }; /* ONNX's number of FLOAT8E4M3FN */

/* A format of caches: the largest code, and whether codes are FP8. */
typedef struct kind {
	float largest;
	int is_fp8;
} kind;

/* NAME, or what nodes that only pass one value on made it of. */
static const char *
origin(const hu_rewriting *x, const char *name)
{
	for (size_t i = x->n; i-- > 0;) {
		const hu_onnx_node *node = &x->node[i];
		int passes = !*node->domain && node->nin == 1 && node->nout == 1 &&
			     (!strcmp(node->op, "Concat") || !strcmp(node->op, "Identity"));
		if (passes && !strcmp(node->out[0], name))
			name = node->in[0];
	}
	return name;
}

/* The input of X that is a past of four axes; NULL where X is no Concat of one along its tokens. */
static const char *
past_of(const hu_rewriting *x, const hu_onnx_node *node)
{
	const hu_onnx_graph *g = x->from->graph;
	int64_t axis = hu_onnx_int(node, "axis", 0);

	if (*node->domain || strcmp(node->op, "Concat") || node->nin != 2 || node->nout != 1 ||
		(axis != TOKENS_OF_PAST && axis != TOKENS_OF_PAST - AXES))
		return NULL;
	const char *past = origin(x, node->in[0]);
	for (size_t i = 0; i < g->nin; i++)
		if (!strcmp(g->in[i].name, past) && g->in[i].rank == AXES && g->in[i].type == HU_ONNX_FLOAT &&
			!x->value[hu_rewriting_find(x, past)].init)
			return past;
	return NULL;
}

/* 1 where NAME says WORD, or ends in its first letter behind something that is none. */
static int
says(const char *name, const char *word)
{
	size_t n = strlen(name);

	return strstr(name, word) ||
	       (n > 1 && tolower((unsigned char)name[n - 1]) == *word && !isalpha((unsigned char)name[n - 2]));
}

static const char *
number(hu_rewriting *x, const char *stem, const char *end, float v)
{
	const char *name = hu_onnx_rewrite_text(&x->w, "%s_cache_%s", stem, end);

	*(float *)hu_onnx_rewrite_constant(&x->w, name, HU_ONNX_FLOAT, 0, NULL) = v;
	return name;
}

/* A node OP of A and B (NULL: of A alone), whose value is called after STEM and END. */
static const char *
add(hu_rewriting *x, const char *op, const char *a, const char *b, const char *stem, const char *end)
{
	const char *out = hu_onnx_rewrite_text(&x->w, "%s_cache_%s", stem, end);

	hu_onnx_rewrite_node(&x->w, op, (const char *[]){ a, b }, b ? 2 : 1, out);
	return out;
}

static void
cast(hu_rewriting *x, int64_t type)
{
	hu_onnx_graph *g = x->w.to->graph;

	hu_onnx_rewrite_attr(&x->w, &g->node[g->nnode - 1], "to", type);
}

static const char *
whole_numbers(hu_rewriting *x, const char *stem, const char *end, size_t n, const int64_t *v)
{
	const char *name = hu_onnx_rewrite_text(&x->w, "%s_cache_%s", stem, end);

	memcpy(hu_onnx_rewrite_constant(&x->w, name, HU_ONNX_INT64, 1, &n), v, n * sizeof *v);
	return name;
}

/* The largest magnitude of RAW along AXIS. */
static const char *
most_of(hu_rewriting *x, const char *raw, const char *out, int64_t axis)
{
	int is_operand = hu_onnx_version(x->from, "") >= 18;
	const char *size = add(x, "Abs", raw, NULL, out, "size"),
		   *list = is_operand ? whole_numbers(x, out, "axis", 1, &axis) : NULL,
		   *most = add(x, "ReduceMax", size, list, out, "most");

	if (!is_operand) {
		hu_onnx_node *node = &x->w.to->graph->node[x->w.to->graph->nnode - 1];
		int64_t *axes = hu_onnx_rewrite_room(&x->w, 1, sizeof *axes);
		hu_onnx_rewrite_attr(&x->w, node, "axes", 0);
		*axes = axis;
		node->attr[node->nattr - 1].has_i = 0;
		node->attr[node->nattr - 1].ints = axes;
		node->attr[node->nattr - 1].nints = 1;
	}
	return most;
}

/* RAW, whose scale is that of its largest magnitudes along AXIS, through codes of K, as OUT. */
static void
store(hu_rewriting *x, const char *raw, const char *out, int64_t axis, kind k)
{
	const char *most = most_of(x, raw, out, axis);

	/* A cache of zeros has a scale too. */
	most = add(x, "Max", most, number(x, out, "least", 0x1p-100f), out, "above");
	const char *scale = add(x, "Div", most, number(x, out, "largest", k.largest), out, "scale"),
		   *code = add(x, "Div", raw, scale, out, "quotient");
	if (k.is_fp8) {
		code = add(x, "Cast", code, NULL, out, "code");
		cast(x, E4M3);
		code = add(x, "Cast", code, NULL, out, "number");
		cast(x, HU_ONNX_FLOAT);
	} else {
		code = add(x, "Round", code, NULL, out, "code");
	}
	hu_onnx_rewrite_node(&x->w, "Mul", (const char *[]){ code, scale }, 2, out);
}

/* The same where GROUP neighbours along AXIS of the shape D share a scale: the cache is cut into groups, of which zeros
   fill the last, along an axis of their own behind AXIS. */
static void
store_groups(hu_rewriting *x, const char *raw, const char *out, int axis, const size_t *d, kind k, int64_t group)
{
	int64_t size = (int64_t)d[axis], rest = (group - size % group) % group, at = axis, zero = 0;
	int64_t pads[2 * AXES] = { 0 }, cut[AXES + 1] = { 0 }, joined[AXES] = { 0 };
	const char *whole = hu_onnx_rewrite_text(&x->w, "%s_cache_joined", out),
		   *parts = hu_onnx_rewrite_text(&x->w, "%s_cache_codes", out);

	pads[AXES + axis] = rest;
	for (int i = 0, to = 0; i < AXES; i++) {
		cut[to++] = i == axis ? (size + rest) / group : i ? (int64_t)d[i] : -1;
		if (i == axis)
			cut[to++] = group;
		joined[i] = i == axis ? size + rest : i ? (int64_t)d[i] : -1;
	}
	if (rest)
		raw = add(x, "Pad", raw, whole_numbers(x, out, "pads", 2 * AXES, pads), out, "filled");
	raw = add(x, "Reshape", raw, whole_numbers(x, out, "groups", AXES + 1, cut), out, "cut");
	store(x, raw, parts, at + 1, k);
	hu_onnx_rewrite_node(&x->w, "Reshape",
		(const char *[]){ parts, whole_numbers(x, out, "shape", AXES, joined) }, 2, rest ? whole : out);
	if (rest)
		hu_onnx_rewrite_node(&x->w, "Slice",
			(const char *[]){ whole, whole_numbers(x, out, "from", 1, &zero),
				whole_numbers(x, out, "to", 1, &size), whole_numbers(x, out, "along", 1, &at) },
			4, out);
}

static hu_status
write_all(hu_rewriting *x, kind k)
{
	size_t caches = 0;

	if (hu_onnx_version(x->from, "") < 13)
		return hu_fail(HU_EUNABLE,
			"%s: caches are stored in narrow formats from version 13 of the operators on", x->from->path);
	for (size_t i = 0; i < x->n; i++) {
		hu_onnx_node *node = hu_onnx_rewrite_copy(&x->w, &x->node[i]);
		const char *past = past_of(x, &x->node[i]), *out = x->node[i].out[0];
		if (!past)
			continue;
		const char *raw = hu_onnx_rewrite_text(&x->w, "%s_cache_raw", out);
		node->out[0] = raw;
		int by_token = x->t->tokens || says(past, "value") || (!says(past, "key") && caches % 2),
		    axis = by_token ? AXES - 1 : TOKENS_OF_PAST;
		const hu_tool_value *v = &x->value[hu_rewriting_id(x, out)];
		if (x->t->group && v->rank != AXES)
			return hu_fail(HU_EUNABLE,
				"%s: the shape of the cache '%s' is not known before the model runs, so that groups "
				"cannot be cut of it; leave group=%d out",
				x->from->path, hu_shown(out), x->t->group);
		if (x->t->group && (size_t)x->t->group < v->d[axis])
			store_groups(x, raw, out, axis, v->d, k, x->t->group);
		else
			store(x, raw, out, axis, k);
		caches++;
	}
	return caches ? HU_OK
		      : hu_fail(HU_EUNABLE,
				"%s: no Concat joins an input of four axes and the tokens at hand along axis 2, so "
				"that there is no cache of keys and values",
				x->from->path);
}

hu_status
hu_tool_kv_int8(hu_rewriting *x)
{
	return write_all(x, (kind){ 127, 0 });
}

hu_status
hu_tool_kv_int4(hu_rewriting *x)
{
	return write_all(x, (kind){ 7, 0 });
}

hu_status
hu_tool_kv_e4m3(hu_rewriting *x)
{
	return write_all(x, (kind){ 448, 1 });
}
