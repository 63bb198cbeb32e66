/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/deciding.h"

#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the command line asks for: axis -1 for the last one, NO_AXIS for nothing said. */
enum { NO_AXIS = -100 };
typedef struct asked {
	int axis, none, threshold, boxes, ctc;
	double at, ignored, blank;
} asked;

static hu_status
parse(asked *q, const char *text)
{
	char word[64];
	double x;
	int said = 0;

	*q = (asked){ .axis = NO_AXIS, .ignored = NAN };
	for (const char *s = text; s && *s; s += strcspn(s, ","), s += *s == ',') {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(s, ","), s);
		said += strncmp(word, "ignore=", 7) != 0;
		if (!strcmp(word, "last"))
			q->axis = -1;
		else if (!strcmp(word, "none"))
			q->none = 1;
		else if (!strncmp(word, "axis=", 5) && hu_parse_real(word + 5, &x) && x == floor(x) &&
			 fabs(x) < HU_RANK)
			q->axis = (int)x;
		else if (!strncmp(word, "threshold=", 10) && hu_parse_real(word + 10, &x) && x == x)
			q->threshold = 1, q->at = x;
		else if (!strcmp(word, "boxes") ||
			 (!strncmp(word, "boxes=", 6) && hu_parse_real(word + 6, &x) && x == x))
			q->boxes = 1, q->at = word[5] ? x : 0.25;
		else if (!strcmp(word, "ctc") ||
			 (!strncmp(word, "ctc=", 4) && hu_parse_real(word + 4, &x) && x == floor(x)))
			q->ctc = 1, q->blank = word[3] ? x : 0;
		else if (!strncmp(word, "ignore=", 7) && hu_parse_real(word + 7, &x) && x == floor(x))
			q->ignored = x;
		else
			return hu_fail(HU_EINVAL,
				"--decision '%s': give axis=K, last, threshold=X, boxes=X, ctc=BLANK or none, and "
				"perhaps ,ignore=LABEL",
				hu_shown(text));
	}
	if (said > 1 + ((q->boxes || q->ctc) && q->axis != NO_AXIS))
		return hu_fail(HU_EINVAL,
			"--decision '%s': only one of axis=K, last, threshold=X, boxes=X, ctc=BLANK and none is "
			"possible; boxes and ctc may have an axis",
			hu_shown(text));
	return HU_OK;
}

/* The shape of an input's part of output O: 1 along the batch's axis, or as many elements as one input has there. */
static void
part(size_t *d, const hu_port *o, size_t batch)
{
	for (int i = 0; i < o->rank; i++)
		d[i] = i == o->axis ? o->d[i] / batch : o->d[i];
}

/* The node that makes output NAME, which of its outputs that is, and behind nodes that only pass values on. */
static const hu_onnx_node *
maker(const hu_onnx *m, const char *name, size_t *which)
{
	for (size_t i = m->graph->nnode; i-- > 0;) {
		const hu_onnx_node *x = &m->graph->node[i];
		for (size_t k = 0; k < x->nout; k++) {
			if (strcmp(x->out[k], name))
				continue;
			*which = k;
			if ((!strcmp(x->op, "Identity") || !strcmp(x->op, "Cast")) && x->nin)
				name = x->in[0];
			else
				return x;
		}
	}
	return NULL;
}

/* The axis of the Softmax or LogSoftmax that ends the graph at output O, or NO_AXIS. */
static int
softmax_axis(const hu_onnx *m, const hu_port *o)
{
	size_t which;
	const hu_onnx_node *x = maker(m, o->name, &which);

	if (!x || (strcmp(x->op, "Softmax") && strcmp(x->op, "LogSoftmax")))
		return NO_AXIS;
	int axis = (int)hu_onnx_int(x, "axis", hu_onnx_version(m, "") < 13 ? 1 : -1);
	return axis < 0 ? axis + o->rank : axis;
}

/* 1 where output O has the indices that an ArgMax or TopK has found. */
static int
is_index(const hu_onnx *m, const hu_port *o)
{
	size_t which = 0;
	const hu_onnx_node *x = maker(m, o->name, &which);

	return x && hu_import_whole(o->type) &&
	       ((!strcmp(x->op, "ArgMax") && !which) || (!strcmp(x->op, "TopK") && which == 1));
}

/* 1 where labels have the shape D of RANK axes without AXIS (below 0: of all); axes of one element may come and go. */
static int
labels_fit(const hu_samples *s, int rank, const size_t *d, int axis)
{
	int k = 0;

	for (int i = 0; i < rank; i++) {
		if (i == axis || d[i] == 1)
			continue;
		while (k < s->label_rank && s->label_d[k] == 1)
			k++;
		if (k == s->label_rank || s->label_d[k++] != d[i])
			return 0;
	}
	while (k < s->label_rank && s->label_d[k] == 1)
		k++;
	return k == s->label_rank;
}

/* The axis of classes where nobody says it: D is an input's part of output O. */
static int
usual_axis(const hu_onnx *m, const hu_port *o, const size_t *d, const hu_samples *s)
{
	int axis = softmax_axis(m, o), own = d[o->axis] == 1, first = !o->axis;

	if (axis != NO_AXIS && axis < o->rank && (axis != o->axis || !own))
		return axis;
	int last = o->rank - 1 - (own && o->axis == o->rank - 1);
	if (s->label && o->rank > 1 && labels_fit(s, o->rank, d, first) != labels_fit(s, o->rank, d, last))
		return labels_fit(s, o->rank, d, first) ? first : last;
	return o->rank > 3 ? first : last;
}

/* The axis of a detector's boxes and scores in output O, of which D is an input's part: the shorter of two. */
static int
boxes_axis(const hu_port *o, const size_t *d)
{
	int found = -1;

	for (int i = 0; i < o->rank; i++)
		if ((i != o->axis || d[i] > 1) && (found < 0 || d[i] < d[found]))
			found = i;
	return found;
}

/* Makes the classes along the axis those of boxes or of a text, as asked. */
static hu_status
special(hu_deciding *d, const hu_port *o, const asked *q)
{
	if (q->boxes && d->all < 5)
		return hu_fail(HU_EINVAL,
			"--decision boxes: axis %d of output '%s' has %zu elements; a box has four numbers and its "
			"classes' scores: [N,4+C,A] or [N,A,4+C]",
			d->axis, hu_shown(o->name), d->all);
	if (q->boxes) {
		d->kind = HU_DECISION_BOXES;
		d->skip = 4;
		d->classes = d->all - 4 + 1;
	}
	double blank = q->blank < 0 ? q->blank + (double)d->classes : q->blank;
	if (q->ctc && !(blank >= 0 && blank < (double)d->classes))
		return hu_fail(HU_EINVAL, "--decision ctc=%.0f: output '%s' has classes 0 to %zu", q->blank,
			hu_shown(o->name), d->classes - 1);
	if (q->ctc) {
		d->kind = HU_DECISION_CTC;
		d->blank = (size_t)blank;
	}
	return HU_OK;
}

/* Makes d the decisions of output k, as asked; classes becomes 1 or less where it has none. */
static hu_status
decide(hu_deciding *d, const hu_onnx *onnx, const hu_imported *m, size_t k, size_t batch, const hu_samples *s,
	const asked *q)
{
	const hu_port *o = &m->out[k];
	size_t shape[HU_RANK], each = 1;
	int axis = q->axis < 0 && q->axis != NO_AXIS ? q->axis + o->rank : q->axis;

	part(shape, o, batch);
	for (int i = 0; i < o->rank; i++)
		each *= shape[i];
	*d = (hu_deciding){ k, 1, each, d->top, HU_DECISION_CLASS, -1, 1, 1, q->at, q->ignored, q->none, 0, 0 };
	if (q->none || !o->rank || !each)
		return HU_OK;
	if (q->threshold || (q->axis == NO_AXIS && is_index(onnx, o))) {
		d->kind = q->threshold ? HU_DECISION_THRESHOLD : HU_DECISION_INDEX;
		d->classes = 2;
		return HU_OK;
	}
	if (axis == NO_AXIS && q->boxes)
		axis = boxes_axis(o, shape);
	if (axis == NO_AXIS)
		axis = usual_axis(onnx, o, shape, s);
	if (q->axis != NO_AXIS && (axis < 0 || axis >= o->rank || (axis == o->axis && shape[axis] == 1)))
		return hu_fail(HU_EINVAL, "--decision: axis %d of output '%s' %s", q->axis, hu_shown(o->name),
			axis < 0 || axis >= o->rank ? "is not there" : "is that of the batch");
	if (axis < 0 || axis >= o->rank)
		return HU_OK;
	d->axis = axis;
	d->all = d->classes = shape[axis];
	for (int i = axis + 1; i < o->rank; i++)
		d->inner *= shape[i];
	d->rows = each / d->classes;
	return special(d, o, q);
}

static hu_status
check_labels(const hu_deciding *d, const hu_imported *m, size_t batch, const hu_samples *s)
{
	const hu_port *o = &m->out[d->output];
	size_t shape[HU_RANK];

	if (!s->label)
		return HU_OK;
	if (d->classes < 2)
		return hu_fail(
			HU_EINVAL, "--labels: no output decides anything; --output and --decision say what does");
	part(shape, o, batch);
	if (d->kind != HU_DECISION_CTC && !labels_fit(s, o->rank, shape, d->axis)) {
		hu_str a, b;
		hu_str_init(&a);
		hu_str_init(&b);
		for (int i = 0; i < s->label_rank; i++)
			hu_str_addf(&a, " x %zu", s->label_d[i]);
		for (int i = 0; i < o->rank; i++)
			if (i != d->axis && (i != o->axis || shape[i] > 1))
				hu_str_addf(&b, " x %zu", shape[i]);
		hu_status st = hu_fail(HU_EFILE,
			"--labels: there are N%s of them, and N%s decisions of output '%s'; --decision says along "
			"which "
			"axis classes lie",
			a.s, b.s, hu_shown(o->name));
		hu_str_release(&a);
		hu_str_release(&b);
		return st;
	}
	for (size_t i = 0; i < s->n * s->nlabel; i++)
		if (s->label[i] != d->ignored &&
			!(s->label[i] >= 0 && (d->kind == HU_DECISION_INDEX || s->label[i] < (double)d->classes)))
			return hu_fail(HU_EFILE,
				"--labels: label %zu is %.17g, and output '%s' decides between classes 0 to %zu; "
				"--decision ...,ignore=%.17g leaves it out",
				i, s->label[i], hu_shown(o->name), d->classes - 1, s->label[i]);
	return HU_OK;
}

hu_status
hu_deciding_of(hu_deciding *d, const hu_onnx *onnx, const hu_imported *m, size_t batch, const hu_samples *s,
	const char *name, const char *text, int top)
{
	asked q;

	HU_TRY(parse(&q, text));
	*d = (hu_deciding){ .top = top, .kind = HU_DECISION_CLASS, .axis = -1, .ignored = q.ignored, .none = q.none };
	for (int index = 0; index < 2 && d->classes < 2; index++)
		for (size_t k = 0; k < m->nout && d->classes < 2; k++) {
			const hu_port *o = &m->out[k];
			int whole = m->p->t[o->tensor].cls == HU_OTHER;
			if (name ? strcmp(o->name, name) != 0 : whole != index || (whole && !is_index(onnx, o)))
				continue;
			HU_TRY(decide(d, onnx, m, k, batch, s, &q));
			if (name)
				return check_labels(d, m, batch, s);
		}
	if (name)
		return hu_fail(HU_EINVAL, "--output: the model has no output called '%s'", hu_shown(name));
	if (d->classes < 2)
		*d = (hu_deciding){
			.top = top, .kind = HU_DECISION_CLASS, .axis = -1, .ignored = q.ignored, .none = q.none
		};
	return check_labels(d, m, batch, s);
}

size_t
hu_deciding_at(const hu_deciding *d, size_t k, size_t j)
{
	return ((k / d->inner) * d->all + d->skip + j) * d->inner + k % d->inner;
}

size_t
hu_deciding_text(const hu_deciding *d, size_t *path, size_t n)
{
	size_t last = d->blank, length = 0;

	for (size_t i = 0; i < n; i++) {
		size_t now = path[i];
		if (now != last && now != d->blank)
			path[length++] = now;
		last = now;
	}
	return length;
}

const double *
hu_deciding_values(const hu_deciding *d, const double *y, size_t k, double constant, double *room)
{
	if (d->kind == HU_DECISION_THRESHOLD) {
		room[0] = constant;
		room[1] = y[k];
		return room;
	}
	if (d->kind == HU_DECISION_INDEX)
		return y + k;
	if (d->kind == HU_DECISION_BOXES) {
		for (size_t j = 0; j + 1 < d->classes; j++)
			room[j] = y[hu_deciding_at(d, k, j)];
		room[d->classes - 1] = constant;
		return room;
	}
	if (d->inner == 1)
		return y + k * d->classes;
	for (size_t j = 0; j < d->classes; j++)
		room[j] = y[hu_deciding_at(d, k, j)];
	return room;
}
