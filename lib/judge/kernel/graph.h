/* SPDX-License-Identifier: Apache-2.0
   A kernel as a graph of known operators, written as a text such as

     h = matmul(x, w); g = store(h, to=$hidden); y = add?(g, bias)

   A statement names its results, an operator (rows.def) and what it takes: values, and KEY=VALUE, where $NAME is a
   declared fact. A question mark lets a statement pass its first value on where another one was not handed in. */
#ifndef HU_JUDGE_GRAPH_H
#define HU_JUDGE_GRAPH_H

#include "lib/judge/kernel/balls.h"
#include "lib/judge/kernel/facts.h"

enum { HU_GRAPH_IN = 12, HU_GRAPH_OUT = 4, HU_GRAPH_KEYS = 12 };

/* How stores to a format of the graph are followed: each adds half an ulp to the radius (HU_STORES_ADD); each rounds
   the value, which loses nothing where the radius reaches over no tie (HU_STORES_DECIDE); or they are left out, so that
   radii are those of the computation alone (HU_STORES_NONE). */
typedef enum hu_stores { HU_STORES_ADD, HU_STORES_DECIDE, HU_STORES_NONE } hu_stores;

typedef struct hu_ball_call hu_ball_call;

/* An operator on balls. run computes the results of a call; in has the call's nin arrays, of which absent ones have no
   elements' memory; out are empty and belong to the graph. */
typedef struct hu_ball_row {
	const char *name;
	int least, most, nout; /* operands and results */
	const char *keys;      /* keys that it takes, separated by blanks */
	hu_status (*run)(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
	const char *summary;
} hu_ball_row;

struct hu_ball_call {
	const hu_ball_row *row;
	int nin, nout, maybe;
	int in[HU_GRAPH_IN], out[HU_GRAPH_OUT];
	int nkey;
	struct {
		char *key, *value;
	} key[HU_GRAPH_KEYS];
	/* while it runs: */
	const hu_facts *facts;
	const hu_roundoffs *roundoffs;
	hu_stores stores;
};

typedef struct hu_graph {
	int n, cap, nc, cap_calls;
	char **name; /* of values */
	hu_ball_call *call;
} hu_graph;

/* The rows of rows.def, and behind them the operators of lib/op that are a formula of elements and have no row there;
   NULL past the last. */
const hu_ball_row *hu_ball_row_at(int i);
const hu_ball_row *hu_ball_row_find(const char *name);

/* Parses a graph. HU_EINVAL says where the text is wrong. hu_graph_release is allowed whatever this returns. */
hu_status hu_graph_parse(hu_graph *g, const char *text);
void hu_graph_release(hu_graph *g);
int hu_graph_value(const hu_graph *g, const char *name); /* -1 where there is none */

/* Runs a graph: value has an array for each of g's values, of which the graph's operands are filled; those that were
   not handed in have no memory. Later arrays are made; where keep is not NULL, arrays that are not kept are released
   after their last reader. given has the kernel's own intermediate values, by value, which later calls then read in
   place of the computed ones; those that were not handed in have no memory, and NULL stands for none at all. */
hu_status hu_graph_run(const hu_graph *g, const hu_facts *facts, hu_stores stores, hu_balls *value, const char *keep,
	const hu_balls *given);

/* What a row reads of its call. A key that is not there has the given preset; $NAME is looked up in the facts. */
const char *hu_ball_text(const hu_ball_call *c, const char *key, const char *preset);
hu_status hu_ball_real(const hu_ball_call *c, const char *key, double preset, double *x);
hu_status hu_ball_count(const hu_ball_call *c, const char *key, size_t preset, size_t *n);
hu_status hu_ball_format(const hu_ball_call *c, const char *key, hu_format_id *id); /* preset: none */
/* Refuses an operand's shape: "attention: … ". */
hu_status hu_ball_misfit(const hu_ball_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
