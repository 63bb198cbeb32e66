# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/judge/kernel/row/attention.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/attention_dx.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/channel.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/contract.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/conv.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/index.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/map.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/move.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/norm.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/optimizer.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/packed.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/reduce.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/scan.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/select.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/softmax.c
libhalfulp_a_SOURCES += lib/judge/kernel/row/steps.c
