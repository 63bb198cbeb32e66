# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/optim/adam.c
libhalfulp_a_SOURCES += trainer/optim/adamw.c
libhalfulp_a_SOURCES += trainer/optim/constants.c
libhalfulp_a_SOURCES += trainer/optim/kahan.c
libhalfulp_a_SOURCES += trainer/optim/keys.c
libhalfulp_a_SOURCES += trainer/optim/lamb.c
libhalfulp_a_SOURCES += trainer/optim/lion.c
libhalfulp_a_SOURCES += trainer/optim/moments.c
libhalfulp_a_SOURCES += trainer/optim/muon.c
libhalfulp_a_SOURCES += trainer/optim/nesterov.c
libhalfulp_a_SOURCES += trainer/optim/optim.c
noinst_HEADERS += trainer/optim/optim.h
noinst_HEADERS += trainer/optim/optims.def
libhalfulp_a_SOURCES += trainer/optim/sgd.c
