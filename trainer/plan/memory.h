/* SPDX-License-Identifier: Apache-2.0
   What a training step keeps in memory, by category, in the formats' own codes. */
#ifndef HU_TRAINER_MEMORY_H
#define HU_TRAINER_MEMORY_H

#include "lib/program/program.h"

/* Bytes. Weights are what the products read, and batchnorm's statistics; masters are the variables behind them where
   a narrower copy is what they read. Activations and gradients count every tensor of their
   class, as if all were kept to the step's end. A state's next value shares its memory. */
typedef struct hu_memory { double weights, masters, activations, gradients, optimizer_state; } hu_memory;

hu_memory hu_memory_of(const hu_program *p);
double hu_memory_total(const hu_memory *m);
json_t *hu_memory_to_json(const hu_memory *m);
/* "1.2 MB" into `out`, at least 16 bytes. */
const char *hu_bytes_text(double bytes, char *out, size_t size);
/* "16GiB", "512 MB", "8e9" of --memory: bytes, more than 0. HU_EINVAL for what is no size. */
hu_status hu_parse_bytes(const char *text, double *bytes);
/* Elements of the trainable tensors. */
size_t hu_parameters(const hu_program *p);
#endif
