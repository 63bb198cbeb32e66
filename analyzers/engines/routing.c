/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/routing.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/program/routers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compares one router's sets; differs[i] becomes 1 where those of token i do. */
static hu_router
compare(int tensor, const hu_tensor *a, const hu_tensor *b, size_t tokens, char *differs)
{
	hu_router r = { tensor, tokens, 0, -1 };
	size_t experts = a->shape.d[1];

	for (size_t i = 0; i < tokens; i++) {
		int same = 1;
		for (size_t e = 0; e < experts && same; e++)
			same = (hu_get(a, i * experts + e) != 0) == (hu_get(b, i * experts + e) != 0);
		if (same)
			continue;
		if (!r.differ++)
			r.first = (long long)i;
		differs[i] = 1;
	}
	return r;
}

void
hu_routing_measure(hu_routing *r, const hu_forward *a, const hu_forward *b)
{
	char *differs = NULL;

	*r = (hu_routing){ .a = a, .router = hu_xcalloc((size_t)a->p->nt + 1, sizeof *r->router) };
	for (int i = 0; i < a->p->nt; i++) {
		int k = strcmp(a->p->t[i].role, HU_ROLE_CHOSEN) ? -1 : hu_program_find(b->p, a->p->t[i].name);
		size_t n = k < 0 || a->t[i].shape.rank != 2 ? 0 : hu_forward_common(&a->t[i], &b->t[k]);
		if (!n)
			continue;
		size_t tokens = n / a->t[i].shape.d[1];
		if (tokens > r->tokens) {
			differs = hu_xrealloc(differs, tokens);
			memset(differs + r->tokens, 0, tokens - r->tokens);
			r->tokens = tokens;
		}
		r->router[r->routers] = compare(i, &a->t[i], &b->t[k], tokens, differs);
		r->sets += tokens;
		r->sets_differ += r->router[r->routers++].differ;
	}
	for (size_t i = 0; i < r->tokens; i++)
		r->tokens_differ += differs[i] != 0;
	free(differs);
}

void
hu_routing_release(hu_routing *r)
{
	free(r->router);
	memset(r, 0, sizeof *r);
}

void
hu_routing_print(const hu_routing *r)
{
	if (!r->routers)
		return;
	printf("  routers        %d choose%s experts: %zu of %zu sets differ (%.3g %%); %zu of %zu tokens (%.3g %%) "
	       "have one that does\n",
		r->routers, r->routers == 1 ? "s" : "", r->sets_differ, r->sets,
		100 * (double)r->sets_differ / (double)r->sets, r->tokens_differ, r->tokens,
		100 * (double)r->tokens_differ / (double)r->tokens);
}

json_t *
hu_routing_json(const hu_routing *r)
{
	json_t *list = json_array();

	for (int i = 0; i < r->routers; i++) {
		const hu_router *one = &r->router[i];
		json_t *first = one->first < 0 ? json_null() : json_integer(one->first);
		json_array_append_new(list,
			json_pack("{s:s s:I s:I s:o}", "layer", hu_shown(r->a->p->t[one->tensor].layer), "tokens",
				(json_int_t)one->tokens, "differ", (json_int_t)one->differ, "first", first));
	}
	if (!r->routers) {
		json_decref(list);
		return json_null();
	}
	return json_pack("{s:i s:I s:I s:I s:I s:o}", "routers", r->routers, "tokens", (json_int_t)r->tokens,
		"tokens_differ", (json_int_t)r->tokens_differ, "sets", (json_int_t)r->sets, "sets_differ",
		(json_int_t)r->sets_differ, "by_router", list);
}
