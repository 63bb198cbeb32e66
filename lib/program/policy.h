/* SPDX-License-Identifier: Apache-2.0
   A precision policy: compute format, variable format, cast list, overrides. Presets are
   rows of policies.def; free form and files give the same struct. */
#ifndef HU_PROGRAM_POLICY_H
#define HU_PROGRAM_POLICY_H

#include "lib/number/format.h"

#include <jansson.h>

/* Which calls run in the compute format:
   keras     every layer casts its inputs to compute; norms work in float32 inside
   autocast  matrix products low, layernorm float32, the rest in what their inputs are
   apex      autocast, with gelu in float32
   all       everything, parameters of norms too */
typedef enum hu_cast_list { HU_LIST_KERAS, HU_LIST_AUTOCAST, HU_LIST_APEX, HU_LIST_ALL } hu_cast_list;

enum { HU_MAX_OVERRIDES = 32 };

typedef struct hu_policy {
	char name[96];
	hu_format_id compute, variable,
		grad; /* grad: format of gradients entering a product where compute has 8 bits */
	hu_cast_list list;
	int dynamic;                           /* loss scaling is dynamic unless told otherwise */
	char accumulate[96];                   /* a summation model, or empty for the default */
	int noverride;
	struct { char pattern[48]; hu_format_id compute; } override[HU_MAX_OVERRIDES];
} hu_policy;

/* A preset's name, "compute=float16,variable=float64,list=autocast,layer:conv*=float32", or a
   JSON file's path (doc/formats.md). HU_EINVAL or HU_EFILE says what is wrong. */
hu_status hu_policy_parse(const char *text, hu_policy *out);
json_t *hu_policy_to_json(const hu_policy *p);
hu_status hu_policy_from_json(const json_t *j, hu_policy *out);
/* Compute format of a layer, overrides applied. */
hu_format_id hu_policy_compute(const hu_policy *p, const char *layer);
/* Row I's name and summary; NULL past the last. */
const char *hu_policy_name(int i);
const char *hu_policy_summary(int i);
/* "float16" for fp16 and so on, as Keras users know them. */
const char *hu_dtype_name(hu_format_id f);
#endif
