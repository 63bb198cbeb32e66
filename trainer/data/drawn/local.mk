# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += trainer/data/drawn/dice.h
libhalfulp_a_SOURCES += trainer/data/drawn/digits.c
noinst_HEADERS += trainer/data/drawn/digits.h
libhalfulp_a_SOURCES += trainer/data/drawn/digits_draw.c
noinst_HEADERS += trainer/data/drawn/glyphs.def
libhalfulp_a_SOURCES += trainer/data/drawn/ratings.c
libhalfulp_a_SOURCES += trainer/data/drawn/reviews.c
noinst_HEADERS += trainer/data/drawn/reviews.h
libhalfulp_a_SOURCES += trainer/data/drawn/scenes.c
noinst_HEADERS += trainer/data/drawn/scenes.h
libhalfulp_a_SOURCES += trainer/data/drawn/scenes_draw.c
libhalfulp_a_SOURCES += trainer/data/drawn/sentences.c
libhalfulp_a_SOURCES += trainer/data/drawn/signals.c
noinst_HEADERS += trainer/data/drawn/signals.h
libhalfulp_a_SOURCES += trainer/data/drawn/signals_draw.c
noinst_HEADERS += trainer/data/drawn/words.def
