/* SPDX-License-Identifier: Apache-2.0
   What the channels of a model's values hold on inputs: the largest magnitude of each, along the last axis. */
#ifndef HU_ANALYZERS_ADVISE_REMEDY_CHANNELS_H
#define HU_ANALYZERS_ADVISE_REMEDY_CHANNELS_H

#include "analyzers/advise/trial/trials.h"

/* n values by name, each with its channels. */
typedef struct hu_remedy_channels {
	size_t n, cap;
	struct hu_remedy_seen {
		char *name;
		size_t channels;
		float *most;
	} *value;
} hu_remedy_channels;

/* Runs N in float32 on the first half of the inputs, and keeps the magnitudes of what MatMul and Gemm read on their
   left. NaN counts as nothing. hu_remedy_channels_release frees *C, after a failure too. */
hu_status hu_remedy_channels_find(hu_remedy_channels *c, const hu_network *n, const hu_trials *t);
/* The magnitudes of VALUE's CHANNELS, which *c owns; NULL where it has others or was not read so. */
const float *hu_remedy_channels_of(const hu_remedy_channels *c, const char *value, size_t channels);
void hu_remedy_channels_release(hu_remedy_channels *c);
#endif
