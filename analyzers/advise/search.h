/* SPDX-License-Identifier: Apache-2.0
   The cheapest assignment of schemes to products that keeps a budget, found on one part of the inputs and verified on
   the other. */
#ifndef HU_ANALYZERS_ADVISE_SEARCH_H
#define HU_ANALYZERS_ADVISE_SEARCH_H

#include "analyzers/advise/trial/trials.h"
#include "analyzers/validate/effect/accept.h"
#include "analyzers/network/calibrate.h"
#include "analyzers/validate/sensitivity/sensitivity.h"

#include "cuda/device/roofline.h"

enum { HU_ADVISE_ALL = 4096 }; /* so many assignments at most are tried one by one */

/* A product's node; products that share their weights, as tied ones and those of a loop's steps do, are one decision.
   bytes[k], seconds[k] and damage[k], k from 0 (float32) to the number of schemes: its weights'
   bytes, its products' time for a batch, and the square of the outputs' relative error with this node alone so. */
typedef struct hu_decision {
	const char *node, *layer;
	char *weights; /* the name of their tensor */
	char **nodes, **layers; /* of all products with these weights, node and layer the first of them */
	size_t n, cap;
	double *bytes, *seconds, *damage;
} hu_decision;

struct hu_assignment;
/* Sets *keeps to 0 where something else than the budget on both halves is broken by the assignment. */
typedef hu_status hu_search_also(void *of, const struct hu_assignment *a, int *keeps);

/* What was asked for, and what is measured on the way. half[0] are the inputs that are searched on, half[1] those held
   apart; trials has their float32 outputs. written: only products of the main graph are decided on, since a file is
   written; within counts those inside other nodes, which stay in float32. */
typedef struct hu_search {
	const hu_imported *m;
	const hu_range *range;
	hu_samples half[2];
	hu_trials trials;
	hu_deciding d;
	size_t batch;
	const hu_scheme *scheme;
	const hu_peaks *device; /* whose time is spared; NULL: bytes are */
	hu_accept *accept;
	size_t nscheme, naccept;
	char *quantisable;
	hu_decision *decision;
	size_t n;
	double float_bytes, float_seconds; /* all weights' bytes, and all products' time, in float32 */
	size_t runs;                       /* assignments that were run */
	size_t looks;                      /* of these, on the half that is held apart */
	int written;
	size_t within;
	hu_search_also *also; /* NULL: the budget on both halves is all; else also_of is its first argument, and */
	void *also_of;
	size_t broken;        /* so many assignments that keep the budget broke it */
	hu_typing typing;     /* how files run that are written: fused and pairs16 as in hu_validate_typed */
	int fused, pairs16;
	hu_progress *bar;
} hu_search;

/* An assignment: choice[i] of decision i, 0 for float32. effect[h]: on half h, measured where tried[h]. also: of
   hu_search_also, asked where also_tried. */
typedef struct hu_assignment {
	unsigned char *choice;
	double bytes, seconds, cost, predicted;
	int tried[2], keeps[2], also_tried, also;
	hu_effect effect[2];
} hu_assignment;

/* Whether what was measured on half H keeps the budget. A confidence is asked of the half that is held apart, H = 1: on
   the other one the choice was searched for, and its inputs prove nothing. */
int hu_search_keeps(const hu_search *s, const hu_effect *e, int h);
/* Lists the decisions, where inputs have a program each those of all inputs that are searched on, with their bytes and
   times: float32 must have been run. HU_EUNABLE where there are none. */
hu_status hu_search_list(hu_search *s);
/* What scheme k does in each decision's node alone, by running what lies behind it, on inputs first to last-1 of the
   half that is searched on: damage[i] of decision i. */
hu_status hu_search_damage(const hu_search *s, size_t k, size_t first, size_t last, hu_damage *damage);
/* Runs float32 on both halves, and measures bytes and times, unless that is done. */
hu_status hu_search_measure(hu_search *s);
/* What is spared: bytes, or seconds of the device. */
double hu_search_cost(const hu_search *s, const hu_decision *d, int choice);
/* The time of the node's products in M under scheme K (0: float32) by the roofline of the device: operands and result
   once through memory at their widths, or the operations at the rate of the operands' format, or one launch,
   whichever is longest. Float formats have both operands and the result; codes of 8 bits the operands, the result
   being float32; of weights alone the weights are narrow and the arithmetic is float32's. Casts and other nodes are not
   counted. */
double hu_search_seconds(
	const hu_search *s, const hu_imported *m, const char *quantisable, const hu_decision *d, size_t k);
/* Tries assignments in the order of their cost, all of them if there are at most HU_ADVISE_ALL: *best is then the
   cheapest that keeps the budget on both halves. greedy: raises the node whose damage is largest for its bytes, one
   after another from the cheapest assignment on, until the budget is kept on both halves, then lowers single nodes as
   long as it is. best->choice is NULL where nothing keeps it. */
hu_status hu_search_all(hu_search *s, hu_assignment *best);
hu_status hu_search_greedy(hu_search *s, hu_assignment *best);
double hu_search_size(const hu_search *s); /* how many assignments there are */
/* The assignment as a variant for validate. */
void hu_search_variant(const hu_search *s, const hu_assignment *a, hu_variant *v);
void hu_assignment_release(hu_assignment *a);
void hu_search_release(hu_search *s);
#endif
