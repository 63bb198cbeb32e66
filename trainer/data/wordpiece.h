/* SPDX-License-Identifier: Apache-2.0
   Word pieces, as BERT's uncased models read text: words are cut into the longest pieces that a vocabulary has, and a
   piece that goes on with a word begins with ##. */
#ifndef HU_TRAINER_DATA_WORDPIECE_H
#define HU_TRAINER_DATA_WORDPIECE_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hu_wordpiece hu_wordpiece;

/* The tokens that every vocabulary has, by their places in hu_wordpiece_special. */
enum { HU_PIECE_PAD, HU_PIECE_UNKNOWN, HU_PIECE_CLS, HU_PIECE_SEP, HU_PIECE_SPECIALS };

/* Reads a vocabulary file: a piece a line, whose number is its place. [PAD], [UNK], [CLS] and [SEP] must be there.
   HU_EFILE names the file and line. The caller frees the result. */
hu_status hu_wordpiece_read(hu_wordpiece **w, const char *path);

/* Makes a vocabulary of n texts: the special tokens, every character alone and behind ##, and the words that occur
   twice or more, the most frequent ones first and equally frequent ones in the order of their bytes, `most` pieces in
   all. It depends on the texts alone. */
hu_wordpiece *hu_wordpiece_make(const char *const *text, size_t n, size_t most);

void hu_wordpiece_free(hu_wordpiece *w);
size_t hu_wordpiece_count(const hu_wordpiece *w);
size_t hu_wordpiece_special(const hu_wordpiece *w, int special);

/* Writes the tokens of a text, at most `room`, and returns how many there are room for or not. ASCII letters become
   small; blanks and control characters separate words, and each ASCII character of punctuation is a word. Bytes
   beyond ASCII are letters: accents stay, and Chinese characters are not separated. A word of more than 100 bytes, or
   with a part of which there is no piece, is [UNK]. */
size_t hu_wordpiece_tokens(const hu_wordpiece *w, const char *text, uint32_t *token, size_t room);
#endif
