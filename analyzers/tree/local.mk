# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/tree/cmd_tree.c
libhalfulp_a_SOURCES += analyzers/tree/library.c
noinst_HEADERS += analyzers/tree/library.h
libhalfulp_a_SOURCES += analyzers/tree/reveal.c
noinst_HEADERS += analyzers/tree/reveal.h
libhalfulp_a_SOURCES += analyzers/tree/reveal_names.c
noinst_HEADERS += analyzers/tree/reveal_names.h
libhalfulp_a_SOURCES += analyzers/tree/reveal_text.c
libhalfulp_a_SOURCES += analyzers/tree/tree_box.c
noinst_HEADERS += analyzers/tree/tree_box.h
libhalfulp_a_SOURCES += analyzers/tree/tree_dot.c
noinst_HEADERS += analyzers/tree/tree_dot.h
libhalfulp_a_SOURCES += analyzers/tree/tree_show.c
noinst_HEADERS += analyzers/tree/tree_show.h
