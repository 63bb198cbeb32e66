/* SPDX-License-Identifier: Apache-2.0
   Decodes UTF-8 and escapes what is not plain. */
#include "lib/base/show.h"

#include "lib/base/mem.h"

#include <stdint.h>
#include <string.h>

/* Decodes one UTF-8 character into *c and returns its length in bytes; 0 where the bytes are not valid UTF-8. */
static size_t
character(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	*c = n < 2 ? *s : *s & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return n > 1 && (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000)) ? 0 : n;
}

/* Unicode's classes Cc, Zl, Zp and Bidi_Control, and the byte order mark. */
static int
controls(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

int
hu_plain(const char *text)
{
	uint32_t c;
	size_t n;

	for (const unsigned char *s = (const unsigned char *)text; *s; s += n)
		if (!(n = character(s, &c)) || controls(c))
			return 0;
	return 1;
}

void
hu_str_show(hu_str *b, const char *text)
{
	uint32_t c;
	size_t n;

	for (const unsigned char *s = (const unsigned char *)text; *s; s += n ? n : 1) {
		n = character(s, &c);
		if (n && !controls(c))
			hu_str_addn(b, s, n);
		else if (n && (c == '\t' || c == '\n' || c == '\r'))
			hu_str_add(b, c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r");
		else if (!n || c < 0x80)
			hu_str_addf(b, "\\x%02x", n ? c : *s);
		else
			hu_str_addf(b, "\\u%04x", c);
	}
}

const char *
hu_shown(const char *text)
{
	enum { RING = 8 };
	static _Thread_local hu_str ring[RING];
	static _Thread_local unsigned at;

	if (!text || hu_plain(text))
		return text;
	hu_str *b = &ring[at++ % RING];
	if (!b->s)
		hu_str_init(b);
	b->len = 0;
	*b->s = 0;
	hu_str_show(b, text);
	return b->s;
}

/* Writes bash's $'...': bytes that are not printable ASCII are escaped, which every locale reads the same way. */
static void
ansi_word(hu_str *b, const char *word)
{
	hu_str_add(b, "$'");
	for (const unsigned char *s = (const unsigned char *)word; *s; s++)
		hu_str_addf(b, *s < 0x20 || *s > 0x7e ? "\\x%02x" : *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
	hu_str_add(b, "'");
}

void
hu_show_word(hu_str *b, const char *word)
{
	int plain = *word &&
		    !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_^-")];

	if (!hu_plain(word)) {
		ansi_word(b, word);
		return;
	}
	hu_str_add(b, plain ? "" : "'");
	for (const char *s = word; *s; s++)
		hu_str_add(b, *s == '\'' ? "'\\''" : (char[]){ *s, 0 });
	hu_str_add(b, plain ? "" : "'");
}
