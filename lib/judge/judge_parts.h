/* SPDX-License-Identifier: Apache-2.0
   What the files that judge one output share (judge.c, judge_tile.c, judge_reference.c), and nobody else: the state of
   the judgement, with the values that wait for the reference. */
#ifndef HU_JUDGE_PARTS_H
#define HU_JUDGE_PARTS_H

#include "lib/judge/judging.h"
#include "lib/op/sink.h"

/* Values that wait for the reference: undecided ones, and decided ones with the verdict v that it is to confirm. */
typedef struct hu_waiting { size_t at; double bound, magnitude; } hu_waiting;
typedef struct hu_twice { size_t at; double hi, lo, err, bound; hu_ziv v; } hu_twice;

typedef struct hu_judge_state {
	hu_sink sink;
	const hu_judge_job *job;
	hu_methods *methods;
	hu_format f;
	hu_region some;            /* the sink's value i is element i of this, or, where its last is 0, of the list */
	size_t stride, offset;     /* number offset + i stride of the list is checked by the reference */
	hu_waiting *w;
	size_t nw, capw;
	hu_twice *t;
	size_t nt, capt;
} hu_judge_state;

/* The sink's function: judges the values of a tile, hands over those that the enclosure decides, and keeps the others
   in s->w. Several threads may call it at once. */
void hu_judge_tile(hu_sink *sink, const hu_tile *t);

/* Judges n waiting values by the reference and hands them over. */
hu_status hu_judge_by_reference(const hu_judge_state *s, const hu_waiting *w, size_t n);
/* Checks the values s->t, which the enclosure decided, by MPFR alone; another verdict is a disagreement
 * (lib/exact/judge.h). */
hu_status hu_judge_twice(const hu_judge_state *s);
#endif
