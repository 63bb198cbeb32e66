/* SPDX-License-Identifier: Apache-2.0
   Layers of transformers, and of embeddings, which ncf has as well. Activations of B samples with S tokens each and H
   features are kept as [B S, H], so that a dense layer is one product. */
#ifndef HU_TRAINER_LAYER_ATTENTION_H
#define HU_TRAINER_LAYER_ATTENTION_H

#include "trainer/model/layer/layer.h"

/* A transformer's sizes: the options of trainer/model/layer/sizes.def with the model's own where none was given, and
   the tensor that every block reads: mask is [B, S], 1 where there is a token. causal hides the tokens after each one;
   experts is 0 where a block has no mixture of experts. */
typedef struct hu_transformer {
	size_t batch, length, layers, hidden, heads, inner, vocabulary, positions, experts, top_k;
	double balance;
	int mask, causal;
	const char *gelu; /* the attribute approx of its gelu */
	const hu_model_sizes *options; /* and eval: what dropout asks for */
	int eval;
} hu_transformer;

/* Fills *t but for mask, with gelu "none" and without causal, from s, which must outlive it and whose data has the
   array "tokens". */
void hu_transformer_sizes(hu_transformer *t, const hu_model_sizes *s, int eval);
/* HU_EINVAL names the size that does not fit another or the data. */
hu_status hu_transformer_check(const hu_model_sizes *s);

/* The rows of LAYER.w [rows, H] that ids [B, S] names: [B, S, H]. */
int hu_layer_embedding(hu_program *p, const char *layer, int ids, size_t rows, size_t hidden);
/* The sum of the embeddings of tokens and, unless there are none, of positions and, where segments is not -1, of two
   segments: [B, S, H]. */
int hu_layer_tokens(hu_program *p, const hu_transformer *t, int tokens, int segments);
/* The same elements in another shape; role names the tensor. */
int hu_layer_reshape(hu_program *p, const char *layer, const char *role, int x, hu_shape shape);
/* Layer normalisation of each row, with epsilon eps. */
int hu_layer_layernorm(hu_program *p, const char *layer, int x, double eps);
/* Attention of several heads between the tokens of each sample, x [B S, H]: softmax(Q K^T / sqrt(H / heads)) V and one
   more dense layer. A key that the mask hides gets the score -10000 (Devlin and others: BERT, 2019, their code), whose
   share is 0 in every format. Layers are NAME_query, NAME_key, NAME_value, NAME_attention and NAME_output. Dropout is
   of the shares and of the result. With the option flash=N it is one call of attention in blocks of N keys, which reads
   no mask; causal hides keys there too. */
int hu_layer_attention(hu_program *p, const hu_transformer *t, const char *name, int x);
/* Two dense layers with gelu between: NAME_up of `inner` units and NAME_down, whose result has dropout. */
int hu_layer_feed_forward(hu_program *p, const hu_transformer *t, const char *name, int x);
/* The element-by-element sum of two activations, LAYER.y. */
int hu_layer_sum(hu_program *p, const char *layer, int a, int b);
#endif
