/* SPDX-License-Identifier: Apache-2.0
   Where the nodes and edges of a graph are drawn: by Graphviz' dot where it is installed, else in plain layers. */
#ifndef HU_REPORTS_LAYOUT_H
#define HU_REPORTS_LAYOUT_H

#include "lib/base/status.h"

#include <stddef.h>

/* An edge, and its curve once it is laid out: a point and then three for each cubic Bezier piece, as x and y in turn.
 */
typedef struct hu_layout_edge {
	size_t from, to, points;
	double *xy;
} hu_layout_edge;

/* x, y: the middles of the nodes, each wide[i] by high[i] in pixels, with y downwards. */
typedef struct hu_layout {
	size_t n, nedge;
	const double *wide, *high;
	double *x, *y, width, height;
	hu_layout_edge *edge;
	char *why; /* why dot did not lay it out, as the end of a sentence; NULL: it did */
} hu_layout;

/* Lays out the N nodes and NEDGE edges, whose ends are set and each of which goes to a later node. The environment
   variable DOT names the program dot. HU_EUNABLE where the system gives neither files nor a process. */
hu_status hu_layout_make(hu_layout *l);
void hu_layout_release(hu_layout *l);

/* In layout_dot.c. Asks dot; sets l->why where it gave no layout, and leaves the rest alone then. */
hu_status hu_layout_dot(hu_layout *l);
#endif
