# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/program/pass/accumulate.c
libhalfulp_a_SOURCES += lib/program/pass/all_reduce.c
libhalfulp_a_SOURCES += lib/program/pass/differentiate.c
libhalfulp_a_SOURCES += lib/program/pass/feedback.c
noinst_HEADERS += lib/program/pass/feedback.h
libhalfulp_a_SOURCES += lib/program/pass/loss_scaling.c
libhalfulp_a_SOURCES += lib/program/pass/micro_batches.c
noinst_HEADERS += lib/program/pass/pass.h
libhalfulp_a_SOURCES += lib/program/pass/tensor_parallel.c
