/* SPDX-License-Identifier: Apache-2.0
   What a model is judged under: a policy of formats, or a scheme for each node. From one text, or from files. */
#ifndef HU_ANALYZERS_VALIDATE_VARIANTS_H
#define HU_ANALYZERS_VALIDATE_VARIANTS_H

#include "lib/import/import.h"
#include "lib/program/quantise/version.h"

/* The node, or the layers of a pattern, that has another scheme than the rest. */
typedef struct hu_exception {
	char *node;
	int pattern;
	hu_scheme scheme;
} hu_exception;

/* by_node: each node has the scheme `rest` or that of the last exception that fits it; else the policy says all. */
typedef struct hu_variant {
	char name[96];
	int by_node;
	hu_policy policy;
	hu_scheme rest;
	hu_exception *exception;
	size_t n, cap;
} hu_variant;

typedef struct hu_variants {
	hu_variant *v;
	size_t n, cap;
} hu_variants;

/* Appends the variants that TEXT lists. Commas separate them; KEY=VALUE belongs to the one before it, but compute=
   begins a new one. A scheme (lib/program/quantise/schemes.def) may be followed by layer:PATTERN=SCHEME. A format's
   name is the policy that computes in it: of more than 8 bits everything, variables too; of 8 bits or fewer, products
   alone, their results in bfloat16. A JSON file with the key `nodes` gives schemes node by node (doc/formats.md).
   HU_EINVAL or HU_EFILE says what is wrong. */
hu_status hu_variants_add(hu_variants *list, const char *text);
void hu_variants_release(hu_variants *list);
void hu_variant_release(hu_variant *v);

/* By call of m->p: the scheme of its node, NULL where that is float32 (freed by the caller). HU_EINVAL names an
   exception that fits no node, or a scheme of products alone given by name to a node without one. */
hu_status hu_variant_schemes(const hu_variant *v, const hu_imported *m, const hu_scheme ***scheme);
/* By call of m->p: 1 for products of Conv, Gemm and MatMul nodes in float32, whose first operand is no constant (freed
   by the caller); by tensor: 1 for the outputs. */
char *hu_schemes_quantisable(const hu_imported *m);
char *hu_schemes_kept(const hu_imported *m);
/* The model's version under V; RANGE as in hu_scheme_plan. *PRODUCTS counts what hu_schemes_quantisable marks,
   *QUANTISED those of them whose scheme is no format; NULL: not asked for. */
hu_status hu_variant_version(hu_version *to, const hu_variant *v, const hu_imported *m, const hu_range *range,
	size_t *products, size_t *quantised);
#endif
