/* SPDX-License-Identifier: Apache-2.0
   What data-parallel training over several ranks needs of each: memory in the stages of ZeRO (Rajbhandari, Rasley,
   Ruwase and He, ZeRO: Memory optimizations toward training trillion parameter models, SC 2020, sections 5 and 7), and
   bytes that it sends in a step. */
#ifndef HU_TRAINER_RANKS_H
#define HU_TRAINER_RANKS_H

#include "trainer/run/memory.h"

enum { HU_ZERO_STAGES = 4 };

/* A step's tensors on one rank alone, in bytes. gradients are those that the update is given, a number for each
   parameter; rest are activations and all other gradients; statistics are batchnorm's. moments are the optimizer's
   states that belong to parameters, averages of the weights among them, scalars its others, the loss scaler's and the
   errors that error feedback keeps, which no stage cuts, since each rank has its own. wire is what the gradients take
   in the format in which they are sent. */
typedef struct hu_rank_sizes {
	double parameters; /* a number, not bytes */
	double weights, statistics, masters, gradients, moments, scalars, rest, wire;
} hu_rank_sizes;

/* What the rank with most holds and sends in a step, in bytes. */
typedef struct hu_rank_share { double weights, masters, gradients, optimizer_state, rest, all, sent; } hu_rank_share;

typedef struct hu_rank_network { const char *name; double gb_s; const char *source; } hu_rank_network;

/* Measures the tensors of a training program. wire is the format of gradients that are sent; HU_NO_FORMAT: the one that
   the program's all-reduce calls send, or where it has none each gradient's own. */
hu_rank_sizes hu_rank_sizes_of(const hu_program *p, hu_format_id wire);

/* Returns the share of one of n ranks, each of which has a batch of its own. Stage 0 has everything on every rank;
   1 cuts the optimizer's state and master weights into n parts, 2 also gradients, 3 also weights. Parts are of
   ceil(parameters / n) numbers, so the last one is padded; where parameters have several formats a part has the mean of
   their sizes. Sent bytes are those of algorithms that send least
   (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69, 2009): n-1 parts for a reduce-scatter or an all-gather. Stage 0
   needs both for gradients; 1 and 2 a reduce-scatter of gradients and an all-gather of the updated weights; 3 gathers
   weights twice, for the forward and for the backward pass. */
hu_rank_share hu_rank_share_of(const hu_rank_sizes *s, int stage, size_t n);

/* HU_EINVAL lists the known networks. A number of GB/s that one rank can send is a network too. */
hu_status hu_rank_network_find(const char *text, hu_rank_network *out);
#endif
