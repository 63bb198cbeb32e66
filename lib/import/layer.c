/* SPDX-License-Identifier: Apache-2.0
   The names of layers: letters as the model has them, but for those that have a meaning in a program. */
#include "lib/import/importing.h"

#include <stdio.h>
#include <string.h>

/* Enters the layers of tensors that are new. */
static void
enter_layers(hu_importing *c)
{
	for (; c->named < c->p->nt; c->named++)
		if (!json_object_get(c->layers, c->p->t[c->named].layer))
			json_object_set_new_nocheck(c->layers, c->p->t[c->named].layer, json_integer(2));
}

void
hu_import_name_layer(hu_importing *c, const char *name)
{
	char text[200];
	size_t n, at = 0;

	snprintf(text, sizeof text, "%s%.150s", c->scope->prefix ? c->scope->prefix : "", name);
	n = strlen(text);
	for (const char *s = n > 80 ? text + n - 80 : text; *s; s++)
		c->layer[at++] = strchr(".@,=*?[]", *s) || *s < '!' || *s > '~' ? '_' : *s;
	c->layer[at] = 0;
	if (!at)
		snprintf(c->layer, sizeof c->layer, "%.40s", c->node ? c->node->op : "input");
	/* Two nodes of one name are told apart, so that a policy can speak of either. */
	enter_layers(c);
	json_t *next = c->node ? json_object_get(c->layers, c->layer) : NULL;
	for (json_int_t i = json_integer_value(next); next && json_object_get(c->layers, c->layer); i++) {
		snprintf(c->layer + at, sizeof c->layer - at, "_%d", (int)i);
		json_integer_set(next, i); /* which stays free where the node's outputs are constants */
	}
}
