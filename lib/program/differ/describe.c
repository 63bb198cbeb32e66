/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/differ/describe.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Appends key=value with the blanks of value as underscores, because blanks separate the words of a text. */
static void
add_word(hu_str *s, const char *key, const char *value)
{
	size_t at = s->len;

	hu_str_addf(s, "%s%s=%s", s->len ? " " : "", key, *value ? value : "-");
	for (size_t i = at + 1; i < s->len; i++)
		if (s->s[i] == ' ')
			s->s[i] = '_';
}

static void
add_plain(hu_str *s, const char *word)
{
	size_t at = s->len;

	hu_str_addf(s, "%s%s", s->len ? " " : "", *word ? word : "-");
	for (size_t i = at + 1; i < s->len; i++)
		if (s->s[i] == ' ')
			s->s[i] = '_';
}

/* Appends "fp32[64,32]" and the tensor's other properties. */
static void
add_tensor(hu_str *s, const char *key, const hu_program *p, int id)
{
	const hu_info *t = &p->t[id];
	hu_str v;

	hu_str_init(&v);
	hu_str_addf(&v, "%s[", hu_format_name(t->format));
	for (int i = 0; i < t->shape.rank; i++)
		hu_str_addf(&v, i ? ",%zu" : "%zu", t->shape.d[i]);
	hu_str_addf(&v, "]%s%s%s", t->state ? ",state" : "", t->trainable ? ",trainable" : "",
		t->loss_scaled ? ",loss_scaled" : "");
	if (t->next >= 0)
		hu_str_addf(&v, ",next=%s", p->t[t->next].name);
	if (t->scale >= 0)
		hu_str_addf(&v, ",scale=%s", p->t[t->scale].name);
	add_word(s, key, v.s);
	hu_str_release(&v);
}

static void
add_names(hu_str *s, const char *key, const hu_program *p, const int *id, int n)
{
	hu_str v;

	hu_str_init(&v);
	for (int i = 0; i < n; i++)
		hu_str_addf(&v, i ? ",%s" : "%s", p->t[id[i]].name);
	add_word(s, key, v.s);
	hu_str_release(&v);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const hu_attr *)a)->key, ((const hu_attr *)b)->key);
}

static char *
describe(const hu_program *p, const hu_call *c)
{
	hu_str s;
	char text[96];
	hu_attr attr[sizeof c->attr / sizeof *c->attr];

	memcpy(attr, c->attr, sizeof attr);
	hu_str_init(&s);
	add_plain(&s, c->op->name);
	add_plain(&s, c->layer);
	/* the attributes' order depends on who wrote the program */
	qsort(attr, (size_t)c->nattr, sizeof *attr, by_name);
	for (int i = 0; i < c->nattr; i++) {
		const hu_attr *a = &attr[i];
		for (int digits = 6; digits <= 17; digits++) { /* the fewest digits that give the number exactly */
			snprintf(text, sizeof text, "%.*g", digits, a->num);
			if (strtod(text, NULL) == a->num)
				break;
		}
		add_word(&s, a->key, *a->text ? a->text : text);
	}
	if (c->flags & HU_SATURATE)
		add_word(&s, "saturate", "1");
	add_word(&s, "mode", hu_mode_name(c->mode));
	hu_sum_print(c->sum, text, sizeof text);
	add_word(&s, "sum", text);
	add_word(&s, "compute", hu_format_name(c->fmt.compute));
	add_word(&s, "acc", hu_format_name(c->fmt.acc));
	add_word(&s, "phase", hu_phase_name(c->phase));
	add_names(&s, "reads", p, c->in, c->nin);
	for (int i = 0; i < c->nout; i++) {
		char key[HU_NAME];
		snprintf(key, sizeof key, "%s", p->t[c->out[i]].name);
		add_tensor(&s, key, p, c->out[i]);
	}
	add_word(&s, "random", c->seed_name);
	return s.s;
}

hu_program_part *
hu_program_describe(const hu_program *p, size_t *n)
{
	hu_program_part *part = hu_xcalloc((size_t)(p->nc + p->nt) + 1, sizeof *part);

	*n = 0;
	for (int i = 0; i < p->nc; i++)
		part[(*n)++] = (hu_program_part){ p->t[p->c[i].out[0]].name, i, describe(p, &p->c[i]) };
	for (int i = 0; i < p->nt; i++) {
		hu_str s;
		if (p->t[i].producer >= 0)
			continue;
		hu_str_init(&s);
		add_plain(&s, "tensor");
		add_plain(&s, p->t[i].name);
		add_tensor(&s, "is", p, i);
		part[(*n)++] = (hu_program_part){ p->t[i].name, -1, s.s };
	}
	return part;
}

void
hu_program_parts_free(hu_program_part *part, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(part[i].text);
	free(part);
}

/* The words of a text, in a copy. */
typedef struct words {
	char *copy, **word;
	int n, cap;
} words;

static words
split(const char *text)
{
	words w = { hu_xstrdup(text), NULL, 0, 0 };
	char *save = NULL;

	for (char *s = strtok_r(w.copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
		HU_GROW(w.word, w.n, w.cap);
		w.word[w.n++] = s;
	}
	return w;
}

static void
drop(words *w)
{
	free(w->copy);
	free(w->word);
}

/* The value under the key of word k in w. The first two words, operator and layer, have no key and stand for
   themselves. */
static const char *
value_in(const words *w, const char *word, int k)
{
	size_t n = strcspn(word, "=");

	if (k < 2)
		return k < w->n ? w->word[k] : NULL;
	for (int i = 2; i < w->n; i++)
		if (!strncmp(w->word[i], word, n) && w->word[i][n] == '=')
			return w->word[i] + n + 1;
	return NULL;
}

void
hu_describe_change(hu_str *out, const char *was, const char *is)
{
	words a = split(was), b = split(is);
	int said = 0;

	for (int side = 0; side < 2; side++) {
		const words *w = side ? &b : &a, *other = side ? &a : &b;
		for (int k = 0; k < w->n; k++) {
			const char *theirs = value_in(other, w->word[k], k), *own = value_in(w, w->word[k], k);
			char key[HU_NAME];
			if ((theirs && !strcmp(own, theirs)) || (side && theirs))
				continue;
			snprintf(key, sizeof key, "%.*s", (int)strcspn(w->word[k], "="), w->word[k]);
			hu_str_addf(out, "%s%s %s -> %s", said++ ? ", " : "",
				k == 0   ? "operator"
				: k == 1 ? "layer"
					 : key,
				side ? "nothing" : own,
				side     ? own
				: theirs ? theirs
					 : "nothing");
		}
	}
	drop(&a);
	drop(&b);
}

static int
by_key(const void *a, const void *b)
{
	const hu_program_part *x = *(const hu_program_part *const *)a, *y = *(const hu_program_part *const *)b;

	return strcmp(x->key, y->key);
}

static const hu_program_part **
sorted(const hu_program_part *part, size_t n)
{
	const hu_program_part **p = hu_xcalloc(n + 1, sizeof *p);

	for (size_t i = 0; i < n; i++)
		p[i] = &part[i];
	if (n)
		qsort(p, n, sizeof *p, by_key);
	return p;
}

static const hu_program_part *
find(const hu_program_part **list, size_t n, const hu_program_part *part)
{
	const hu_program_part **hit = n ? bsearch(&part, list, n, sizeof *list, by_key) : NULL;

	return hit ? *hit : NULL;
}

/* Appends "call 53 conv2d_dw conv1" or "tensor conv1.w", the first words of the part's text. */
static void
add_head(hu_str *out, const hu_program_part *p)
{
	size_t n = strcspn(p->text, " ");

	n += p->text[n] == ' ' ? 1 + strcspn(p->text + n + 1, " ") : 0;
	if (p->call >= 0)
		hu_str_addf(out, "call %d ", p->call);
	hu_str_addn(out, p->text, n);
}

size_t
hu_program_compare(hu_str *out, const hu_program *was, const hu_program *is)
{
	size_t na, nb, lines = 0;
	hu_program_part *a = hu_program_describe(was, &na), *b = hu_program_describe(is, &nb);
	const hu_program_part **sa = sorted(a, na), **sb = sorted(b, nb);

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < (side ? nb : na); i++) {
			const hu_program_part *p = side ? &b[i] : &a[i];
			const hu_program_part *other = find(side ? sa : sb, side ? na : nb, p);
			if (other && (side || !strcmp(p->text, other->text)))
				continue;
			lines++;
			if (!out)
				continue;
			add_head(out, p);
			hu_str_add(out, other ? ": " : side ? " is new" : " is gone");
			if (other)
				hu_describe_change(out, p->text, other->text);
			hu_str_add(out, "\n");
		}
	free(sa);
	free(sb);
	hu_program_parts_free(a, na);
	hu_program_parts_free(b, nb);
	return lines;
}
