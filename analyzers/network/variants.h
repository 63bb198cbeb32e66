/* SPDX-License-Identifier: Apache-2.0
   What a model is judged under: a policy of formats, or a scheme for each node. From one text, or from files. */
#ifndef HU_ANALYZERS_VALIDATE_VARIANTS_H
#define HU_ANALYZERS_VALIDATE_VARIANTS_H

#include "lib/import/import.h"
#include "lib/import/tool/tool.h"
#include "lib/program/quantise/version.h"

/* A node, or the layers that match a pattern, with another scheme than the rest. */
typedef struct hu_exception {
	char *node;
	int pattern;
	hu_scheme scheme;
} hu_exception;

/* as: a model that runs as it is, of the same inputs and outputs, instead of a version of the network's; NULL: none.
   file and typing: the same where each input has a program of its own, so that the file is imported for each.
   some: an exception may fit no node, as of an input whose program lacks it.
   Where tool is set, the model is what that tool writes of it. Where by_node is set, each node has the scheme of the
   last exception that fits it, or else `rest`. Otherwise the policy decides everything. */
typedef struct hu_variant {
	char name[96];
	int by_node, some;
	const hu_imported *as;
	const hu_onnx *file;
	hu_typing typing;
	hu_tool *tool;
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
   alone, their results in bfloat16. A tool's name (lib/import/tool/tools.def) is what that tool writes. A JSON file
   with the key `nodes` gives schemes node by node (doc/formats.md).
   HU_EINVAL or HU_EFILE says what is wrong. */
hu_status hu_variants_add(hu_variants *list, const char *text);
/* Appends M, which runs as it is and must outlive the list, as NAME. */
void hu_variants_add_model(hu_variants *list, const char *name, const hu_imported *m);
/* Appends FILE, which runs as it is, as TYPING says, and must outlive the list, as NAME. */
void hu_variants_add_file(hu_variants *list, const char *name, const hu_onnx *file, hu_typing typing);
/* Drops what is called NAME behind the first variant. */
void hu_variants_once(hu_variants *list, const char *name);
void hu_variants_release(hu_variants *list);
void hu_variant_release(hu_variant *v);

/* Sets *scheme to an array, which the caller frees, of the scheme of each call's node, NULL for float32. Fails with
   HU_EINVAL where an exception fits no node, or names a node without a product for a scheme of products alone. */
hu_status hu_variant_schemes(const hu_variant *v, const hu_imported *m, const hu_scheme ***scheme);
/* Sets met[k] where exception k fits a node of M; and fails with HU_EINVAL because it has fitted none. */
void hu_variant_meets(char *met, const hu_variant *v, const hu_imported *m);
hu_status hu_variant_unmet(const hu_variant *v, size_t k);
/* Both return an array that the caller frees. hu_schemes_quantisable has a 1 for each call of m->p that is a float32
   product of a Conv, Gemm or MatMul node whose first operand is no constant; hu_schemes_kept for each output tensor. */
char *hu_schemes_quantisable(const hu_imported *m);
char *hu_schemes_kept(const hu_imported *m);
/* Makes the model's version under v, which no tool writes; `range` is as in hu_scheme_plan. *products becomes the
   number of calls that hu_schemes_quantisable marks, *quantised that of those whose scheme is no format; either may be
   NULL. */
hu_status hu_variant_version(hu_version *to, const hu_variant *v, const hu_imported *m, const hu_range *range,
	size_t *products, size_t *quantised);
#endif
