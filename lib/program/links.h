/* SPDX-License-Identifier: Apache-2.0
   Which tensor is the next value of a state, and which the gradient of a parameter, in each step of a recording. Steps
   of a recording may differ (a learning rate that changes, clipping, several optimizers), so that each has calls and
   tensors of its own. hu_info has the links of programs whose steps are all alike, and those of a recording's last
   step. */
#ifndef HU_PROGRAM_LINKS_H
#define HU_PROGRAM_LINKS_H

#include "lib/program/program.h"

/* The links of one tensor in one step; -1: none. */
typedef struct hu_link {
	int tensor, next, grad;
} hu_link;
/* A step's links, ascending by tensor. */
typedef struct hu_step_links {
	size_t step;
	hu_link *l;
	int n, cap;
} hu_step_links;
struct hu_links {
	hu_step_links *s;
	int n, cap;
}; /* ascending by step */

/* The tensor whose value a state takes when the step ends, and that of a parameter's gradient: of this step, or of the
   program where it says nothing of the step; -1: none. */
int hu_program_next(const hu_program *p, size_t step, int tensor);
int hu_program_grad(const hu_program *p, size_t step, int tensor);
/* Returns 1 if `next` is the value that the state takes at the end of some step. */
int hu_program_becomes(const hu_program *p, int tensor, int next);

/* Returns 1 if the tensor is a gradient that the loss scale can save. One of a single number is that only as a
   parameter's: others are the loss's own, which is the scale itself. */
int hu_program_scales(const hu_program *p, int tensor);

hu_links *hu_links_copy(const hu_links *l); /* NULL of NULL */
void hu_links_free(hu_links *l);

/* The member "steps" of a program's JSON: [{"step": 0, "next": {"12": 57}, "grad": {"12": 40}}, …]. Reading checks
   that tensors exist and have the same shape, and values of a state the same format. */
void hu_links_to_json(const hu_program *p, json_t *program);
hu_status hu_links_from_json(hu_program *p, const json_t *program);
#endif
