/* SPDX-License-Identifier: Apache-2.0
   How the products of a node are quantised, or in which format a node runs: a scheme, and its text. */
#ifndef HU_PROGRAM_SCHEME_H
#define HU_PROGRAM_SCHEME_H

#include "lib/number/block/block.h"

/* FLOAT is no quantisation: the node's operands and results are rounded to a format, its arithmetic is float32's. */
typedef enum hu_scheme_kind {
	HU_SCHEME_FLOAT,
	HU_SCHEME_INTEGER,
	HU_SCHEME_FLOAT8,
	HU_SCHEME_BLOCK
} hu_scheme_kind;
typedef enum hu_grain { HU_GRAIN_TENSOR, HU_GRAIN_CHANNEL, HU_GRAIN_GROUP } hu_grain;
typedef enum hu_activations {
	HU_ACTIVATIONS_NONE,
	HU_ACTIVATIONS_STATIC,
	HU_ACTIVATIONS_DYNAMIC
} hu_activations;
typedef enum hu_calibration {
	HU_CALIBRATION_MAX,
	HU_CALIBRATION_PERCENTILE,
	HU_CALIBRATION_MSE,
	HU_CALIBRATION_ENTROPY,
	HU_CALIBRATION_HISTORY
} hu_calibration;

typedef struct hu_scheme {
	char name[64]; /* as it was written */
	hu_scheme_kind kind;
	int bits;
	hu_format_id format; /* of FLOAT and of the codes of FLOAT8 */
	hu_block block;      /* of BLOCK, and its name with the words of block formats alone */
	char blocks[40];
	hu_grain grain;      /* of weights; group: the terms that share a scale */
	size_t group;
	hu_activations activations;
	hu_calibration calibration;
	double percent;
	size_t history; /* so many batches' maxima, of HISTORY */
	double margin;  /* HISTORY's scale is 2^margin times as large */
	int asymmetric, biases, pairs16;
} hu_scheme;

/* Reads NAME[:WORD]…, a row of schemes.def with words of words.def, or the name of a format of more than 8 bits,
   which is FLOAT. HU_EINVAL says what is wrong, HU_EABSENT that the name is neither. */
hu_status hu_scheme_parse(hu_scheme *s, const char *text);
/* 1 where TEXT begins with the name of a row of schemes.def and, of a row that is a format too, has words behind it; or
   is the name of a format of more than 8 bits and narrower than float32, other than tf32, which is one of products. */
int hu_scheme_is(const char *text);
#endif
