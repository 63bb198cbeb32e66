# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/model/loss/cross_entropy.c
libhalfulp_a_SOURCES += trainer/model/loss/dice.c
libhalfulp_a_SOURCES += trainer/model/loss/layer_loss.c
noinst_HEADERS += trainer/model/loss/layer_loss.h
libhalfulp_a_SOURCES += trainer/model/loss/loss.c
noinst_HEADERS += trainer/model/loss/loss.h
noinst_HEADERS += trainer/model/loss/losses.def
libhalfulp_a_SOURCES += trainer/model/loss/nt_xent.c
libhalfulp_a_SOURCES += trainer/model/loss/parts.c
noinst_HEADERS += trainer/model/loss/parts.h
libhalfulp_a_SOURCES += trainer/model/loss/squares.c
