/* SPDX-License-Identifier: Apache-2.0
   Another file of the same network, which a converter or quantiser wrote, beside the float one: values paired by name,
   what each node does to them, and what arrives. */
#ifndef HU_ANALYZERS_AGAINST_H
#define HU_ANALYZERS_AGAINST_H

#include "analyzers/network/network.h"

#include <jansson.h>

/* SAME: the file has a value of this name, shape and meaning. OTHER: it has one of this name, whose shape is another or
   whose elements mostly are. NONE: it has none. */
typedef enum hu_against_kind { HU_AGAINST_SAME, HU_AGAINST_OTHER, HU_AGAINST_NONE } hu_against_kind;

/* Sums of squares over all finite elements: of differences, and of the float network's values. */
typedef struct hu_against_error {
	double error, all;
} hu_against_error;

/* A value that a node of the float network makes, or one of its inputs (node and op ""). as: what the file calls it as
   its readers see it, such as T_DequantizeLinear_Output. own: how far it is off where all values before it are the
   float network's; arrived: where none is. elements: of the value, of all inputs. nonfinite: that are not finite, where
   errors have arrived, and are in the float network. zeroed and saturated are of the value's own rounding: elements
   that were not 0 and became 0, and elements beyond the last code, or that became infinite. */
typedef struct hu_against_row {
	const char *value, *node, *op, *as;
	hu_against_kind kind;
	hu_against_error own, arrived;
	size_t elements, nonfinite, zeroed, saturated;
} hu_against_row;

/* path: or the name of the tool that would write it. file: as it was read, where onnx, which runs, is what a runtime
   makes of it. codes: of hu_against_has_codes. */
typedef struct hu_against {
	const char *path;
	hu_onnx onnx, file;
	int codes;
	hu_imported m;
	hu_against_row *row;
	size_t n, inputs;
} hu_against;

/* 1 where nodes of M make, read or multiply codes, which a runtime may compute in its own way. */
int hu_against_has_codes(const hu_onnx *m);
/* Opens PATH and imports it for N's batches and inputs, as TYPING says, and with FUSED what onnxruntime makes of
   quantised nodes, as in hu_validate_typed; with PAIRS16 sums of two products of bytes saturate, as without VNNI.
   HU_EFILE where it has not N's inputs and outputs. A failure leaves what hu_against_release frees. */
hu_status hu_against_open(
	hu_against *a, const char *path, const hu_network *n, hu_typing typing, int fused, int pairs16);
/* The same of what tool T writes of N's model, in memory, with types as they are, by NAME; ranges must have been
   measured where T calibrates. */
hu_status hu_against_tool(hu_against *a, const char *name, hu_network *n, const hu_tool *t);
/* Runs both on the first INPUTS inputs and measures the rows, in the order of the float network's nodes. */
hu_status hu_against_measure(hu_against *a, const hu_network *n, size_t inputs);
void hu_against_release(hu_against *a);

/* √(error / all); NaN where nothing was measured. */
double hu_against_rel(const hu_against_error *e);
void hu_against_print(const hu_against *a);
json_t *hu_against_json(const hu_against *a);
#endif
