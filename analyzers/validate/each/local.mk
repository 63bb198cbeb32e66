# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/validate/each/each.c
noinst_HEADERS += analyzers/validate/each/each.h
libhalfulp_a_SOURCES += analyzers/validate/each/each_calibrate.c
libhalfulp_a_SOURCES += analyzers/validate/each/each_deciding.c
libhalfulp_a_SOURCES += analyzers/validate/each/each_effect.c
libhalfulp_a_SOURCES += analyzers/validate/each/each_judge.c
libhalfulp_a_SOURCES += analyzers/validate/each/each_lists.c
noinst_HEADERS += analyzers/validate/each/each_lists.h
libhalfulp_a_SOURCES += analyzers/validate/each/each_nodes.c
