# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/train/cmd_train.c
libhalfulp_a_SOURCES += trainer/train/exercise.c
noinst_HEADERS += trainer/train/exercise.h
libhalfulp_a_SOURCES += trainer/train/loop.c
noinst_HEADERS += trainer/train/loop.h
libhalfulp_a_SOURCES += trainer/train/ranked_serve.c
noinst_HEADERS += trainer/train/ranked_serve.h
libhalfulp_a_SOURCES += trainer/train/say.c
noinst_HEADERS += trainer/train/say.h
