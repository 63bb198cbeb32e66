/* SPDX-License-Identifier: Apache-2.0
   The memory that a training step's tensors take, by category, in the codes of their formats. */
#ifndef HU_TRAINER_MEMORY_H
#define HU_TRAINER_MEMORY_H

#include "lib/base/table/bytes.h"
#include "lib/program/program.h"

/* All in bytes. weights are what products read, and batchnorm's statistics; masters are the variables behind them where
   the products read a narrower copy. activations and gradients count every tensor of their class, as if all were kept
   to the step's end. The next value of a state shares its memory. */
typedef struct hu_memory { double weights, masters, activations, gradients, optimizer_state; } hu_memory;

hu_memory hu_memory_of(const hu_program *p);
double hu_memory_total(const hu_memory *m);
json_t *hu_memory_to_json(const hu_memory *m);
/* Parses a size such as "16GiB", "512 MB" or "8e9" into bytes, more than 0. HU_EINVAL where text is no size. */
hu_status hu_parse_bytes(const char *text, double *bytes);
/* Returns the number of elements of the trainable tensors. */
size_t hu_parameters(const hu_program *p);
#endif
