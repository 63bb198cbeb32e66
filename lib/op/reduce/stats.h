/* SPDX-License-Identifier: Apache-2.0
   The family of operators that compute statistics of groups of elements (a sum, the largest) and from them further
   statistics or their outputs: softmax and losses, norms. A row lists the statistics in the order in which each needs
   the ones before it; how they are computed, bounded and certified is here. The references are the rows' own.
   reduce_family.h has the simplest such operators: one sum, and a formula of it. */
#ifndef HU_OP_STATS_H
#define HU_OP_STATS_H

#include "lib/op/narrow/narrow.h"
#include "lib/op/reduce/reduce.h"

/* How a tensor's n elements fall into groups; the members are a map's (map.h). how says where an element finds its
   group's statistic: HU_ROW, one group a row; HU_CHANNEL, one a channel; HU_IMAGE, one for each channel of an image. */
typedef struct hu_groups { size_t n, channels, image; hu_how how; } hu_groups;

/* The rows, and the columns, of a tensor whose last dimension has C elements. The middle dimension of one with outer x
   middle x inner elements. All n elements in one group. */
hu_groups hu_groups_rows(size_t n, size_t C);
hu_groups hu_groups_columns(size_t n, size_t C);
hu_groups hu_groups_middle(size_t outer, size_t middle, size_t inner);
hu_groups hu_groups_one(size_t n);
size_t hu_groups_count(const hu_groups *g);   /* how many groups there are */
size_t hu_groups_size(const hu_groups *g);    /* how many elements each has */
/* Element i of group k is element first + i * stride. */
void hu_groups_place(const hu_groups *g, size_t k, size_t *first, size_t *stride);

/* One operand of a rule's formula. */
typedef enum hu_from_what {
	HU_FROM_END,     /* there are no more operands */
	HU_FROM_INPUT,   /* input k of the call, read as how says */
	HU_FROM_STAT,    /* statistic k, read as how says */
	HU_FROM_GROUP,   /* statistic k of the group that the element belongs to */
	HU_FROM_INDEX    /* the element's place in its row, a number */
} hu_from_what;
typedef struct hu_from { hu_from_what what; int k; hu_how how; } hu_from;
#define HU_OF_GROUP(k) { HU_FROM_GROUP, k, HU_EACH }
#define HU_OF_INDEX { HU_FROM_INDEX, 0, HU_EACH }

typedef enum hu_stat_kind {
	HU_STAT_END,      /* there are no more statistics */
	HU_STAT_SUM,      /* the sums of the formula's results over the elements of each group, by the fixed tree */
	HU_STAT_INPUTS,   /* one number: the sum of the formula's result over all elements of all inputs, input after
	                     input; the formula's one operand is the input's element */
	HU_STAT_EACH,     /* the formula's results for each group, without a sum: what becomes of a sum */
	HU_STAT_SHIFT,    /* the largest element of input a in each group, rounded to the compute format. It counts as
	                     exact: only formulas whose results do not depend on it may use it (exp(x - shift)). */
	HU_STAT_PICK      /* of each group, the element of input a whose place in the group input b gives */
} hu_stat_kind;

/* One statistic, or as many as the formula has results (SUM and EACH). They are numbered in the order of the rules. */
typedef struct hu_stat_rule {
	hu_stat_kind kind;
	hu_groups (*groups)(const hu_call *c, hu_tensor *const *in);
	const hu_blocks *blocks;   /* the formula */
	hu_from from[HU_MAP_IN];   /* its operands */
	int results;               /* how many results it has; 0 stands for 1 */
	int a, b;                  /* the inputs that SHIFT and PICK read */
	/* Sets the formula's constants and returns how many there are. NULL: there are none. */
	int (*constants)(const hu_call *c, const hu_groups *g, double *k);
} hu_stat_rule;

/* The constant k[0] is the size of a group: what a mean divides by. */
int hu_stats_size(const hu_call *c, const hu_groups *g, double *k);
/* k[0] is the attribute label_smoothing, k[1] the size of a group: the number of classes. */
int hu_stats_smoothing(const hu_call *c, const hu_groups *g, double *k);

/* One output: the formula that map has, for every element of its groups, or statistic stat if map.blocks is NULL. */
typedef struct hu_stats_output { hu_stat_rule map; int stat; } hu_stats_output;

enum { HU_STATS_RULES = 8, HU_STATS_OUT = 3, HU_STATS = 12 };

/* What a row supplies. */
typedef struct hu_stats_own {
	hu_stat_rule rule[HU_STATS_RULES];
	hu_stats_output output[HU_STATS_OUT];
	hu_status (*check)(const hu_call *c, hu_tensor *const *in);   /* refuses values of inputs; NULL: takes all */
	double flops;       /* operations for each element of input 0; else the row has a column cost */
	/* Of a gradient of a reduction (hu_axes_reference_dx0), its reference: turns y, which holds x's element, into
	   the result; of[k] is what operand k + 1 has for its group. */
	void (*slope)(mpfr_t y, const mpfr_t *of);
	const char *key;                  /* NULL, or an attribute: calls in which it is not 0 have the rules of with */
	const struct hu_stats_own *with;
} hu_stats_own;
extern const hu_columns hu_family_stats;

/* The same for rules that are not the row's member stats. */
hu_status hu_stats_emulate(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, hu_tensor *const *out,
	const hu_env *env);
hu_status hu_stats_bound(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out,
	const size_t *element, size_t n, double *bound);
hu_status hu_stats_enclose(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out,
	const size_t *element, size_t n, hu_sink *sink);

/* The grain of a call with such rules (op.h): whole groups, if the rules that the largest output needs and that go
   through all elements have its groups. */
size_t hu_stats_grain(const hu_stats_own *own, const hu_call *c, const hu_shape *in);

/* The pieces, for stats.c and stats_enclose.c. hu_stats_new computes the emulated statistics into stat, which has room
   for HU_STATS of them, and returns how many there are. Where part is not NULL, what it does not ask for is 0.
   hu_stats_map sets up a rule's map of n elements, adding
   only the operands that are inputs or the index, and calls add for statistics. */
typedef struct hu_stats_source {
	void (*add)(hu_map *m, const void *stats, int k, hu_how how);
	const void *stats;
} hu_stats_source;
void hu_stats_map(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_stat_rule *r, hu_stats_source s);
/* The rules that an output needs, a bit each. */
unsigned hu_stats_needs(const hu_stats_own *own, int out);
/* Only these rules, and of those that have the groups `of` only the span. */
typedef struct hu_stats_part { unsigned needs; hu_groups of; hu_span some; } hu_stats_part;
int hu_stats_new(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int with_errors,
	const hu_stats_part *part, hu_stat *stat);
/* The span of a rule with groups g: `some` where these are the groups `of`, else all. */
hu_span hu_stats_span(const hu_groups *g, const hu_groups *of, hu_span some);
/* The groups that output out is made of. */
hu_groups hu_stats_groups(const hu_stats_own *own, const hu_call *c, hu_tensor *const *in, int out);
void hu_stats_free(hu_stat *stat, int n);
hu_stats_source hu_stats_emulated(const hu_stat *stat);
/* The largest of the n elements of x from first on, a stride apart; NaN if there is one. */
double hu_stats_largest(const hu_tensor *x, size_t first, size_t n, size_t stride);
#endif
