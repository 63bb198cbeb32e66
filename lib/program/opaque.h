/* SPDX-License-Identifier: Apache-2.0
   What the opaque calls of a recorded program are (role HU_ROLE_OPAQUE): the name that a person knows, and why nothing
   judges them. Many calls share an entry, so a program holds each once. */
#ifndef HU_PROGRAM_OPAQUE_H
#define HU_PROGRAM_OPAQUE_H

#include "lib/program/program.h"

/* The name of calls that stand for those that a recorder left out. */
#define HU_OPAQUE_NOT_KEPT "what was not kept"

/* Such as "aten.topk" and "halfulp has no such operator". calls is how many calls of the step it stands for: 1, or
   another number where a recorder left calls out, 0 where the call only makes a tensor that one of them made. */
typedef struct hu_opaque {
	char *name, *reason;
	int calls;
} hu_opaque;
struct hu_opaques {
	hu_opaque *o;
	int n, cap;
};

/* Says what call c of p is; both texts are copied. */
void hu_program_set_opaque(hu_program *p, hu_call *c, const char *name, const char *reason, int calls);
/* What call c is, NULL where it is not opaque. */
const hu_opaque *hu_program_opaque(const hu_program *p, const hu_call *c);

hu_opaques *hu_opaques_copy(const hu_opaques *o); /* NULL of NULL */
void hu_opaques_free(hu_opaques *o);

/* The member "opaque" of a call's JSON, with a name, a reason and, where it is not 1, a number of calls. Reading fails
   with a reason where an opaque call has none, or another call has one. */
void hu_opaque_to_json(const hu_program *p, const hu_call *c, json_t *call);
hu_status hu_opaque_from_json(hu_program *p, hu_call *c, const json_t *call);
#endif
