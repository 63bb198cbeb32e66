/* SPDX-License-Identifier: Apache-2.0
   What a model decides for an input: which values of which output are compared, and where they lie. */
#ifndef HU_ANALYZERS_DECIDING_H
#define HU_ANALYZERS_DECIDING_H

#include "analyzers/network/samples.h"

typedef enum hu_decision_kind {
	HU_DECISION_CLASS,     /* the class with the largest value along an axis, the first of equals */
	HU_DECISION_THRESHOLD, /* 1 where an element is above the threshold, else 0 */
	HU_DECISION_INDEX,     /* the element itself, a whole number that ArgMax or TopK has found */
	/* of a detector's [N,4+C,A] or [N,A,4+C]: for each place the class with the largest score, or no box where
	   none is above the threshold */
	HU_DECISION_BOXES,
	/* a text: the classes along time without repeats and blanks, as connectionist temporal classification reads
	   them */
	HU_DECISION_CTC,
	/* of models with a program for each input: a list of boxes, or whole numbers and shapes of outputs */
	HU_DECISION_LISTS
} hu_decision_kind;

/* An input has `rows` decisions in one output, and is decided by all of them together. Each is between `classes`
   classes, and fewer than two mean that nothing is decided. Class j of decision k is element
   ((k / inner) * all + skip + j) * inner + k % inner of the input's part of the output; all is the axis's length, and
   skip how many numbers of a box stand before the scores, whose last class is no box. axis: the model's axis of the
   classes, -1 where there is none. blank: the class that separates letters of a text. A row whose label is `ignored`
   (NaN: none is) is neither right nor wrong. none: the user wants no decision. */
typedef struct hu_deciding {
	size_t output, classes, rows;
	int top;
	hu_decision_kind kind;
	int axis;
	size_t all, inner;
	double threshold, ignored;
	int none;
	size_t skip, blank;
} hu_deciding;

/* The deciding output: the one called NAME, else the first with two classes or more, else the first that an ArgMax or
   TopK ends. TEXT, of the command line or NULL: axis=K, last, threshold=X, boxes, boxes=X, ctc, ctc=BLANK or none,
   perhaps with ,ignore=LABEL. Without it classes lie along the axis of a Softmax or LogSoftmax that ends the graph,
   else where labels of S say, else along axis 1 of images and volumes and along the last one of everything else.
   HU_EINVAL where there is no such output or axis, HU_EFILE where labels have another shape or class than decisions can
   have. */
hu_status hu_deciding_of(hu_deciding *d, const hu_onnx *onnx, const hu_imported *m, size_t batch, const hu_samples *s,
	const char *name, const char *text, int top);

/* The classes' values of decision K of an input whose outputs are Y, or CONSTANT for what is no element of them: in Y
   itself or in ROOM, of `classes` numbers. */
const double *hu_deciding_values(const hu_deciding *d, const double *y, size_t k, double constant, double *room);
/* The element of the input's outputs that is class J of decision K. */
size_t hu_deciding_at(const hu_deciding *d, size_t k, size_t j);
/* Leaves of the N classes of PATH, in their order in time, those of the text; returns how many there are. */
size_t hu_deciding_text(const hu_deciding *d, size_t *path, size_t n);
#endif
