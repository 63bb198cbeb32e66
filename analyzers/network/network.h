/* SPDX-License-Identifier: Apache-2.0
   A model with the inputs that it is judged on, as a command line gives both: options data, labels, shape, batch,
   calibrate and calibrate-inputs. */
#ifndef HU_ANALYZERS_NETWORK_H
#define HU_ANALYZERS_NETWORK_H

#include "analyzers/network/calibrate.h"

#include "lib/base/console/opt.h"

typedef struct hu_network {
	const hu_args *a;
	hu_onnx onnx;
	hu_samples s;
	hu_imported m; /* for batches of `batch` inputs; where `each` is set, for the first input alone */
	size_t batch;
	hu_batch_axes said;
	int each;             /* each input has a program of its own, since shapes follow from its values */
	char *alone;          /* why inputs run one by one where a batch was possible; NULL: they do not */
	hu_calibrated ranges; /* of what static scales need; empty where none are needed */
	hu_given *given;
	size_t ngiven, givencap, nshape;
	char **shape;
} hu_network;

/* Reads the options, the model PATH and its inputs, and imports it. Where SURVEYED is not 0, the first so many inputs
   fill whole batches, unless the user gives the size of these. A failure leaves what hu_network_release frees. */
hu_status hu_network_open(hu_network *n, const hu_args *a, const char *path, size_t surveyed);
/* Imports the model again for batches of *BATCH inputs, which becomes the model's own where that is fixed. */
hu_status hu_network_import(hu_network *n, hu_imported *m, size_t *batch);
/* Imports ONNX, the network's own file or another with its inputs and outputs, for batches as n->m has them, with the
   types that TYPING says. */
hu_status hu_network_typed(const hu_network *n, hu_imported *m, const hu_onnx *onnx, hu_typing typing);
/* For input ROW alone of a model whose shapes follow from values: ONNX, the network's own file or another with its
   inputs and outputs, computed at once; and as a program that the answers A are known of, which are found in the first
   way, or as outputs of the second. As hu_import_computed and hu_import_answered. */
hu_status hu_network_computed(
	const hu_network *n, hu_imported *m, hu_answers *a, size_t row, const hu_onnx *onnx, hu_typing typing);
hu_status hu_network_answered(
	const hu_network *n, hu_imported *m, const hu_answers *a, const hu_onnx *onnx, hu_typing typing);
/* Measures the ranges that static scales of the POLICIES need, on whole batches of inputs of option calibrate, else on
   the first ones of FIRST. HU_EINVAL where the options have no effect. */
hu_status hu_network_calibrate(hu_network *n, const hu_variants *policies, const hu_samples *first, hu_progress *bar);
/* In batching.c. Imports the model for batches of n->batch inputs, once it is found along which axes these lie: inputs'
   by their names and shapes, outputs' by the model's shapes for one and for two inputs, and all of them by float32's
   outputs, which must be those of each input alone. Where no axes have that, or an input's outputs depend on others of
   its batch, n->batch becomes 1; HU_EINVAL where ASKED, the user's own size of a batch, forbids that. */
hu_status hu_network_batching(hu_network *n, int asked);
/* In tool_version.c. The version that the variant's tool writes, for batches of n->batch; the ranges must have been
   measured where the tool calibrates. NODE, where it is not NULL, gets by call the names of the tool's nodes, which the
   caller frees. */
hu_status hu_network_tool_version(hu_version *v, hu_network *n, const hu_tool *t, char ***node);
void hu_network_release(hu_network *n);
#endif
