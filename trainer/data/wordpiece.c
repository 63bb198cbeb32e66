/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/wordpiece.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 100 };

static const char *const special[HU_PIECE_SPECIALS] = { "[PAD]", "[UNK]", "[CLS]", "[SEP]" };

/* A table of texts with open addressing: slot[h] is a place + 1. count is how often each was added. */
struct hu_wordpiece {
	char **piece;
	size_t *count, n, room, *slot, slots;
	size_t special[HU_PIECE_SPECIALS];
};

static size_t
hash(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t at = 0; at < n; at++)
		h = (h ^ (unsigned char)s[at]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

/* Returns the slot of that text, or the free one where it belongs. */
static size_t *
slot(const hu_wordpiece *w, const char *s, size_t n)
{
	size_t h = hash(s, n) & (w->slots - 1);

	for (; w->slot[h]; h = (h + 1) & (w->slots - 1)) {
		const char *p = w->piece[w->slot[h] - 1];
		if (!strncmp(p, s, n) && !p[n])
			break;
	}
	return &w->slot[h];
}

static hu_wordpiece *
empty(void)
{
	hu_wordpiece *w = hu_xcalloc(1, sizeof *w);

	w->slots = 1 << 10;
	w->slot = hu_xcalloc(w->slots, sizeof *w->slot);
	return w;
}

/* Counts one more of that text, and adds it where it is new. Returns its place. */
static size_t
add(hu_wordpiece *w, const char *s, size_t n)
{
	size_t *at = slot(w, s, n);

	if (*at)
		return w->count[*at - 1]++, *at - 1;
	if (w->n == w->room) {
		w->room = 2 * w->room + 256;
		w->piece = hu_xrealloc(w->piece, w->room * sizeof *w->piece);
		w->count = hu_xrealloc(w->count, w->room * sizeof *w->count);
	}
	w->piece[w->n] = hu_xprintf("%.*s", (int)n, s);
	w->count[w->n++] = 1;
	*at = w->n;
	if (2 * w->n > w->slots) {
		free(w->slot);
		w->slots *= 4;
		w->slot = hu_xcalloc(w->slots, sizeof *w->slot);
		for (size_t i = 0; i < w->n; i++)
			*slot(w, w->piece[i], strlen(w->piece[i])) = i + 1;
	}
	return w->n - 1;
}

void
hu_wordpiece_free(hu_wordpiece *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->piece[i]);
	free(w->piece);
	free(w->count);
	free(w->slot);
	free(w);
}

size_t
hu_wordpiece_count(const hu_wordpiece *w)
{
	return w->n;
}

size_t
hu_wordpiece_special(const hu_wordpiece *w, int which)
{
	return w->special[which];
}

static hu_status
fill(hu_wordpiece *w, const char *path, const char *text)
{
	size_t line = 0;

	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "\n"), bare = n && s[n - 1] == '\r' ? n - 1 : n;
		line++;
		if (add(w, s, bare) + 1 != line)
			return hu_fail(HU_EFILE, "%s: line %zu: the piece '%.*s' stands in an earlier line too", path,
				line, (int)(bare < 40 ? bare : 40), s);
		s += n + (s[n] == '\n');
	}
	for (int i = 0; i < HU_PIECE_SPECIALS; i++) {
		size_t at = *slot(w, special[i], strlen(special[i]));
		if (!at)
			return hu_fail(
				HU_EFILE, "%s: this vocabulary has no %s; BERT's vocab.txt has one", path, special[i]);
		w->special[i] = at - 1;
	}
	return HU_OK;
}

hu_status
hu_wordpiece_read(hu_wordpiece **to, const char *path)
{
	hu_wordpiece *w = empty();
	char *text;
	size_t n;
	hu_status st = hu_file_read(path, &text, &n);

	if (st == HU_OK) {
		st = strlen(text) == n ? fill(w, path, text)
				       : hu_fail(HU_EFILE, "%s: byte %zu is 0, so this is no text", path, strlen(text));
		free(text);
	}
	if (st == HU_OK)
		*to = w;
	else
		hu_wordpiece_free(w);
	return st;
}

static int
is_punctuation(unsigned char c)
{
	return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

/* Finds the next word from *s on, moves *s behind it and returns its length; 0 at the end. */
static size_t
next_word(const char **s, const char **word)
{
	const unsigned char *p = (const unsigned char *)*s;

	while (*p && (*p <= ' ' || *p == 127))
		p++;
	*word = (const char *)p;
	if (is_punctuation(*p))
		p++;
	else
		while (*p > ' ' && *p != 127 && !is_punctuation(*p))
			p++;
	*s = (const char *)p;
	return (size_t)(*s - *word);
}

/* Writes the word in small letters. */
static void
lower(char *to, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
}

/* The length of the character that begins there, which ends at the latest after n bytes. */
static size_t
character(const char *s, size_t n)
{
	size_t k = 1;

	while (k < n && ((unsigned char)s[k] & 0xc0) == 0x80)
		k++;
	return k;
}

typedef struct counted {
	const char *word;
	size_t count;
} counted;

static int
by_count(const void *a, const void *b)
{
	const counted *x = a, *y = b;

	return x->count != y->count ? (x->count > y->count ? -1 : 1) : strcmp(x->word, y->word);
}

/* The texts of w, the most frequent first. */
static counted *
ordered(const hu_wordpiece *w)
{
	counted *c = hu_xmalloc((w->n + 1) * sizeof *c);

	for (size_t i = 0; i < w->n; i++)
		c[i] = (counted){ w->piece[i], w->count[i] };
	qsort(c, w->n, sizeof *c, by_count);
	return c;
}

hu_wordpiece *
hu_wordpiece_make(const char *const *text, size_t n, size_t most)
{
	hu_wordpiece *words = empty(), *letters = empty(), *w = empty();
	char small[LONGEST_WORD], going[LONGEST_WORD + 3] = "##";

	for (size_t i = 0; i < n; i++) {
		const char *s = text[i], *word;
		for (size_t len; (len = next_word(&s, &word));) {
			if (len > LONGEST_WORD)
				continue;
			lower(small, word, len);
			add(words, small, len);
			for (size_t k = 0, c; k < len; k += c)
				add(letters, small + k, c = character(small + k, len - k));
		}
	}
	counted *c = ordered(letters), *v = ordered(words);
	for (int i = 0; i < HU_PIECE_SPECIALS; i++)
		w->special[i] = add(w, special[i], strlen(special[i]));
	for (int behind = 0; behind < 2; behind++)
		for (size_t i = 0; i < letters->n; i++) {
			strcpy(going + 2, c[i].word);
			add(w, behind ? going : c[i].word, strlen(c[i].word) + 2 * (size_t)behind);
		}
	for (size_t i = 0; i < words->n && v[i].count > 1 && w->n < most; i++)
		add(w, v[i].word, strlen(v[i].word));
	free(c);
	free(v);
	hu_wordpiece_free(words);
	hu_wordpiece_free(letters);
	return w;
}

/* Writes the pieces of one word, at most LONGEST_WORD of them, and returns their number; 0 where a part has none. */
static size_t
pieces(const hu_wordpiece *w, const char *word, size_t n, uint32_t *to)
{
	char part[LONGEST_WORD + 2] = "##";
	size_t found = 0;

	for (size_t begin = 0, end; begin < n; begin = end) {
		size_t place = 0, marks = begin ? 2 : 0;
		lower(part + 2, word + begin, n - begin);
		for (end = n; end > begin; end--)
			if ((place = *slot(w, part + 2 - marks, marks + end - begin)))
				break;
		if (!place)
			return 0;
		to[found++] = (uint32_t)(place - 1);
	}
	return found;
}

size_t
hu_wordpiece_tokens(const hu_wordpiece *w, const char *text, uint32_t *token, size_t room)
{
	uint32_t own[LONGEST_WORD];
	const char *word;
	size_t n = 0;

	for (size_t len; (len = next_word(&text, &word));) {
		size_t found = len > LONGEST_WORD ? 0 : pieces(w, word, len, own);
		if (!found) {
			own[0] = (uint32_t)w->special[HU_PIECE_UNKNOWN];
			found = 1;
		}
		for (size_t i = 0; i < found; i++, n++)
			if (n < room)
				token[n] = own[i];
	}
	return n;
}
