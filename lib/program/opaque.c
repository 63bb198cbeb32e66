/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/opaque.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <stdlib.h>
#include <string.h>

void
hu_program_set_opaque(hu_program *p, hu_call *c, const char *name, const char *reason, int calls)
{
	hu_opaques *all = p->opaques ? p->opaques : (p->opaques = hu_xcalloc(1, sizeof *all));
	int i = 0;

	while (i < all->n &&
		(strcmp(all->o[i].name, name) || strcmp(all->o[i].reason, reason) || all->o[i].calls != calls))
		i++;
	if (i == all->n) {
		HU_GROW(all->o, all->n, all->cap);
		all->o[all->n++] = (hu_opaque){ hu_xstrdup(name), hu_xstrdup(reason), calls };
	}
	c->opaque = i + 1;
}

const hu_opaque *
hu_program_opaque(const hu_program *p, const hu_call *c)
{
	return p->opaques && c->opaque > 0 && c->opaque <= p->opaques->n ? &p->opaques->o[c->opaque - 1] : NULL;
}

hu_opaques *
hu_opaques_copy(const hu_opaques *o)
{
	if (!o)
		return NULL;
	hu_opaques *to = hu_xcalloc(1, sizeof *to);
	for (int i = 0; i < o->n; i++) {
		HU_GROW(to->o, to->n, to->cap);
		to->o[to->n++] = (hu_opaque){ hu_xstrdup(o->o[i].name), hu_xstrdup(o->o[i].reason), o->o[i].calls };
	}
	return to;
}

void
hu_opaques_free(hu_opaques *o)
{
	for (int i = 0; o && i < o->n; i++) {
		free(o->o[i].name);
		free(o->o[i].reason);
	}
	if (o)
		free(o->o);
	free(o);
}

void
hu_opaque_to_json(const hu_program *p, const hu_call *c, json_t *call)
{
	const hu_opaque *o = hu_program_opaque(p, c);

	if (!o)
		return;
	json_t *j = json_pack("{s:s s:s}", "name", o->name, "reason", o->reason);
	if (o->calls != 1)
		json_object_set_new(j, "calls", json_integer(o->calls));
	json_object_set_new(call, "opaque", j);
}

hu_status
hu_opaque_from_json(hu_program *p, hu_call *c, const json_t *call)
{
	json_t *o = json_object_get(call, "opaque");
	const char *name, *reason;
	int calls = 1;

	if (c->op->role != HU_ROLE_OPAQUE)
		return o ? hu_fail(HU_EFILE, "%s is no opaque operator, but the call says what it is", c->op->name)
			 : HU_OK;
	if (!o || json_unpack(o, "{s:s s:s}", "name", &name, "reason", &reason) || !*name)
		return hu_fail(HU_EFILE, "an opaque call has to say its name and a reason");
	if (json_unpack(o, "{s?i}", "calls", &calls) || calls < 0)
		return hu_fail(
			HU_EFILE, "the number of calls that an opaque call stands for is a whole number from 0 on");
	hu_program_set_opaque(p, c, name, reason, calls);
	return HU_OK;
}
