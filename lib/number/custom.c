/* SPDX-License-Identifier: Apache-2.0
   Reads and writes the names of formats that are described by their names, such as e5m3 and binary8p3. */
#include "lib/number/custom.h"

#include "lib/base/mem.h"
#include "lib/number/names.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const suffixes[HU_SPECIALS] = { "ieee", "fn", "fnuz", "finite", "p3109", "scale", "p3109u",
	"p3109uf" };

static const char *const summaries[HU_SPECIALS] = { "infinities and NaN in the top exponent",
	"no infinity, NaN in the all-ones codes", "no infinity, one NaN, no -0", "neither infinity nor NaN",
	"IEEE P3109: infinities, one NaN, no -0", "a power of two without sign",
	"IEEE P3109: no sign, an infinity, one NaN", "IEEE P3109: no sign, no infinity, one NaN" };

static const struct {
	const char *word, *summary;
	int flag;
} words[] = { { "ftz", "subnormals flushed to zero", HU_FTZ }, { "nosub", "no subnormals", HU_NOSUB },
	{ "sat", "saturating", HU_SATURATE } };

enum { WORDS = sizeof words / sizeof *words };

const char *
hu_special_name(int special)
{
	return suffixes[special];
}

/* How far the reading of a name has come: s is the rest, and st the failure, if any. */
typedef struct reading {
	const char *name, *s;
	hu_status st;
} reading;

/* Reads up to 4 digits. Returns -1 where there are none or more. */
static int
digits(reading *r)
{
	int n = 0, seen = 0;

	for (; isdigit((unsigned char)*r->s) && seen < 4; r->s++, seen++)
		n = 10 * n + (*r->s - '0');
	return seen && !isdigit((unsigned char)*r->s) ? n : -1;
}

static int
at(const reading *r)
{
	return (int)(r->s - r->name) + 1;
}

static int
skip(reading *r, const char *word)
{
	size_t n = strlen(word);

	if (strncasecmp(r->s, word, n))
		return 0;
	r->s += n;
	return 1;
}

/* Reads the trailing words. Returns -1, with the failure in r->st, where something else stands there; `others` lists
   what else might have. */
static int
flags_of(reading *r, const char *others)
{
	int flags = 0, i;

	while (*r->s) {
		for (i = 0; i < WORDS; i++)
			if (!(flags & words[i].flag) && skip(r, words[i].word))
				break;
		if (i == WORDS) {
			r->st = hu_fail(HU_EINVAL,
				"format '%s', character %d: '%s' is unknown here; known: %sftz, nosub, sat", r->name,
				at(r), r->s, others);
			return -1;
		}
		flags |= words[i].flag;
	}
	if ((flags & HU_FTZ) && (flags & HU_NOSUB)) {
		r->st = hu_fail(HU_EINVAL, "format '%s': ftz and nosub exclude each other", r->name);
		return -1;
	}
	return flags;
}

/* Sets *id where the parameters make a format whose values are all doubles. e and m are the places of the exponent's
   and the significand's digits in the name, for messages. */
static hu_status
checked(const char *name, int e, int m, int ebits, int mant, int special, int bias, int flags, hu_format_id *id)
{
	hu_format f;

	if (ebits < 1 || ebits > 11)
		return hu_fail(HU_EINVAL,
			"format '%s', character %d: 1 to 11 exponent bits are possible, not %d; fp64 has 11", name, e,
			ebits);
	if (mant > 51)
		return hu_fail(HU_EINVAL,
			"format '%s', character %d: at most 51 trailing significand bits are possible, not %d; fp64 "
			"has 52",
			name, m, mant);
	if (special == HU_SPECIAL_IEEE && (ebits < 2 || mant < 1))
		return hu_fail(HU_EINVAL,
			"format '%s', character %d: infinities and NaN take the top exponent, so 2 exponent bits and 1 "
			"significand bit are needed; try e%dm%dfinite",
			name, ebits < 2 ? e : m, ebits, mant);
	if (special == HU_SPECIAL_FN && ebits + mant < 2)
		return hu_fail(HU_EINVAL, "format '%s', character %d: NaN leaves no number beside 0; try e%dm%dfinite",
			name, e, ebits, mant);
	if (special == HU_SPECIAL_P3109 && ebits + mant < 2)
		return hu_fail(HU_EINVAL,
			"format '%s', character %d: an infinity leaves no number beside 0; P3109 has 3 bits and more",
			name, e);
	if (bias < 0)
		bias = hu_format_bias(ebits, special);
	if (bias > 1023 + (1 << 10))
		return hu_fail(HU_EINVAL, "format '%s': a bias of %d puts its values out of fp64's range", name, bias);
	f = hu_format_of_custom(hu_format_custom(ebits, mant, special, bias, flags));
	if (f.emin - f.p + 1 < -1074 || f.emin > 1023 || f.emin < -1022 || f.emax > 1023)
		return hu_fail(HU_EINVAL,
			"format '%s', character %d: its values, 2^%d to 2^%d, are not all fp64's; choose fewer "
			"exponent bits or another bias",
			name, e, f.emin - f.p + 1, f.emax);
	*id = f.id;
	return HU_OK;
}

/* Returns the row with the same numbers and codes, so that a format has one id only; the id itself where there is
   none. */
static hu_format_id
known(hu_format_id id)
{
	hu_format f = hu_format_of_custom(id);

	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format g = hu_format_of((hu_format_id)i);
		if (g.ebits == f.ebits && g.p == f.p && g.emin == f.emin && g.special == f.special &&
			g.flags == f.flags)
			return g.id;
	}
	return id;
}

/* Reads binaryKpP[s|u][e|f]. A signed finite one is FNUZ that saturates, as all of P3109's saturation modes have it. */
static hu_status
p3109(reading *r, hu_format_id *id)
{
	int k = digits(r), bits_at = at(r), p, is_signed, finite, flags;

	if (k < 3 || k > 16)
		return hu_fail(HU_EINVAL, "format '%s', character 7: P3109 has binary3 to binary16", r->name);
	if (!skip(r, "p"))
		return hu_fail(HU_EINVAL, "format '%s', character %d: the precision is missing, as in binary8p3",
			r->name, at(r));
	bits_at = at(r);
	p = digits(r);
	is_signed = !skip(r, "u");
	if (is_signed && strncasecmp(r->s, "sat", 3))
		skip(r, "s");
	if (p < 1 || p > k - is_signed)
		return hu_fail(HU_EINVAL, "format '%s', character %d: binary%dp1 to binary%dp%d%s are possible",
			r->name, bits_at, k, k, k - is_signed, is_signed ? "" : "u");
	finite = !strncasecmp(r->s, "f", 1) && strncasecmp(r->s, "ftz", 3) ? skip(r, "f") : 0;
	if (!finite)
		skip(r, "e");
	if ((flags = flags_of(r, "s or u, e or f, ")) < 0)
		return r->st;
	return checked(r->name, bits_at, bits_at, k - p + !is_signed, p - 1,
		is_signed ? (finite ? HU_SPECIAL_FNUZ : HU_SPECIAL_P3109)
		: finite  ? HU_SPECIAL_P3109UF
			  : HU_SPECIAL_P3109U,
		-1, is_signed && finite ? flags | HU_SATURATE : flags, id);
}

/* Reads eXmY[bBIAS][special][words]. Returns 0 where the name has another shape. */
static int
by_fields(reading *r, hu_format_id *id)
{
	static const int longest_first[] = { HU_SPECIAL_FINITE, HU_SPECIAL_FNUZ, HU_SPECIAL_FN, HU_SPECIAL_IEEE,
		HU_SPECIAL_P3109 };
	int ebits, mant, bias = -1, special = HU_SPECIAL_IEEE, e = 2, m, flags;

	if (!skip(r, "e") || (ebits = digits(r)) < 0 || !skip(r, "m"))
		return 0;
	m = at(r);
	if ((mant = digits(r)) < 0)
		return 0;
	if (skip(r, "b") && (bias = digits(r)) < 0) {
		r->st = hu_fail(HU_EINVAL, "format '%s', character %d: a bias has up to 4 digits, as in e4m3b11fnuz",
			r->name, at(r));
		return 1;
	}
	for (size_t i = 0; i < sizeof longest_first / sizeof *longest_first; i++)
		if (skip(r, suffixes[longest_first[i]])) {
			special = longest_first[i];
			break;
		}
	if ((flags = flags_of(r, "a bias such as b11, ieee, fn, fnuz, finite, p3109, ")) >= 0)
		r->st = checked(r->name, e, m, ebits, mant, special, bias, flags, id);
	return 1;
}

/* Returns where the word that ends the name's first n characters begins; n where no word does. */
static size_t
before_word(const char *name, size_t n)
{
	for (int i = 0; i < WORDS; i++) {
		size_t k = strlen(words[i].word);
		if (n > k && !strncasecmp(name + n - k, words[i].word, k))
			return n - k;
	}
	return n;
}

/* Reads the name of a row followed by words. Returns 0 where there is no such row. */
static int
by_row(reading *r, hu_format_id *id)
{
	char stem[64];
	size_t n = strlen(r->name), cut;
	int row = -1, flags;
	hu_format f;

	for (; row < 0 && (cut = before_word(r->name, n)) < n; n = cut) {
		snprintf(stem, sizeof stem, "%.*s", (int)cut, r->name);
		row = cut < sizeof stem ? hu_name_find(hu_format_names, HU_FORMATS, stem) : -1;
		r->s = r->name + cut;
	}
	if (row < 0)
		return 0;
	if ((flags = flags_of(r, "")) < 0)
		return 1;
	f = hu_format_of((hu_format_id)row);
	if (f.p > 52 || !hu_has_zero(f))
		r->st = hu_fail(HU_EINVAL, "format '%s', character %d: %s takes no such word", r->name, (int)n + 1,
			hu_format_names[f.id].name);
	else
		*id = hu_format_custom(f.ebits, f.p - 1, f.special, 1 - f.emin, flags);
	return 1;
}

int
hu_custom_find(const char *name, hu_format_id *id, hu_status *st)
{
	reading r = { name, name, HU_OK };
	int is;

	if (skip(&r, "binary") && isdigit((unsigned char)*r.s) && strpbrk(r.s, "pP")) {
		r.st = p3109(&r, id);
		is = 1;
	} else {
		is = by_row(&r, id);
	}
	if (!is) {
		r.s = name;
		is = by_fields(&r, id);
	}
	*st = r.st;
	if (is && *st == HU_OK)
		*id = known(*id);
	return is;
}

/* Names are made once and kept, because callers hold pointers to them. */
typedef struct kept {
	hu_format_id id;
	char name[32];
	struct kept *next;
} kept;

enum { BUCKETS = 1021 };

static kept *names[BUCKETS]; /* hashed by id */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes a format's name. It has the bias where that is not the usual one, or where a row owns the name without it. */
static void
spell(hu_format_id id, char *out, size_t room)
{
	hu_format f = hu_format_of_custom(id);
	int bias = 1 - f.emin, usual = bias == hu_format_bias(f.ebits, f.special);
	const char *special = f.special == HU_SPECIAL_IEEE ? "" : suffixes[f.special];

	if (hu_is_p3109(f) && usual && f.bits >= 3 && f.bits <= 16) {
		snprintf(out, room, "binary%dp%d%s", f.bits, f.p, hu_has_sign(f) ? "" : hu_has_inf(f) ? "u" : "uf");
	} else {
		snprintf(out, room, "e%dm%d%s", f.ebits, f.p - 1, special);
		int row = hu_name_find(hu_format_names, HU_FORMATS, out);
		hu_format_id own = hu_format_custom(f.ebits, f.p - 1, f.special, bias, 0);
		if (!usual || (row >= 0 && known(own) != (hu_format_id)row))
			snprintf(out, room, "e%dm%db%d%s", f.ebits, f.p - 1, bias, special);
	}
	for (int i = 0; i < WORDS; i++)
		if (f.flags & words[i].flag) {
			size_t n = strlen(out);
			snprintf(out + n, room - n, "%s", words[i].word);
		}
}

const char *
hu_custom_name(hu_format_id id)
{
	kept *k, *mine = NULL, **bucket = &names[(unsigned)id % BUCKETS];

	for (;;) {
		pthread_mutex_lock(&lock);
		for (k = *bucket; k && k->id != id; k = k->next)
			;
		if (!k && mine) {
			mine->next = *bucket;
			*bucket = k = mine;
			mine = NULL;
		}
		pthread_mutex_unlock(&lock);
		if (k)
			break;
		mine = hu_xalloc(sizeof *mine); /* not under the lock: a library may leave from here */
		mine->id = id;
		spell(id, mine->name, sizeof mine->name);
	}
	free(mine);
	return k->name;
}

/* Returns the summary of the specials alone, or, for a format with flags, one that is made once and kept. */
const char *
hu_custom_summary(hu_format_id id)
{
	static char text[HU_SPECIALS][8][128];
	hu_format f = hu_format_of_custom(id);
	char *out = text[f.special][(int)id >> 27 & 7];

	if (!f.flags)
		return summaries[f.special];
	pthread_mutex_lock(&lock);
	if (!*out) {
		size_t n = (size_t)snprintf(out, 128, "%s", summaries[f.special]);
		for (int i = 0; i < WORDS; i++)
			if (f.flags & words[i].flag)
				n += (size_t)snprintf(out + n, 128 - n, "; %s", words[i].summary);
	}
	pthread_mutex_unlock(&lock);
	return out;
}
