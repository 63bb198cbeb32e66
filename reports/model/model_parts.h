/* SPDX-License-Identifier: Apache-2.0
   Sections of a model's page, each appended as whole elements; for this folder alone. */
#ifndef HU_REPORTS_MODEL_PARTS_H
#define HU_REPORTS_MODEL_PARTS_H

#include "lib/base/status.h"
#include "lib/base/str.h"

#include <jansson.h>

/* v: the object of validate; a: that of advise. */
/* Says which policies keep the budget, and which of these takes the fewest bytes; then the table of all. */
void hu_model_decision(hu_str *b, const json_t *v);
/* The scheme of each product in the order of the nodes, and what it comes to on both halves of the inputs. */
void hu_model_plan(hu_str *b, const json_t *a);
/* Which whole models in narrow formats break the budget, and which changes of the graph mend that; nothing where none
   does. */
void hu_model_remedies(hu_str *b, const json_t *a);
/* The graph of the model with what each policy does to its nodes; nothing where the object is older than graphs. */
hu_status hu_model_graph(hu_str *b, const json_t *v, const json_t *a);
/* Appends a block of Markdown for a model card: what each policy changes, the plan of advise, and the commands; v or a
   may be NULL, not both. `command` is the line that makes the card. */
void hu_model_card(hu_str *b, const json_t *v, const json_t *a, const char *command);
/* How much colour a node has, in percent: none for the least damage, most for the worst, by orders of magnitude. What
   is not finite has the most. */
double hu_model_heat(double damage, double least, double worst);
/* Of each policy that was surveyed: the nodes in order, coloured by their damage; the worst of them as a table; the
   errors along the depth; and channels that stand out. */
void hu_model_nodes(hu_str *b, const json_t *v);
/* Of each other file of the network: how many values it has too, and the worst of these. */
void hu_model_against(hu_str *b, const json_t *v);
/* Appends two curves over the nodes s, sorted by position: errors with all nodes low, and each node's own. */
void hu_model_depth(hu_str *b, json_t *const *node, size_t n);
/* Appends the map of channels of those nodes whose largest channel stands out most. */
void hu_model_outliers(hu_str *b, json_t *const *node, size_t n);
#endif
