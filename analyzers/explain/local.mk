# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/explain/explain.c
noinst_HEADERS += analyzers/explain/explain.h
libhalfulp_a_SOURCES += analyzers/explain/explain_blocks.c
libhalfulp_a_SOURCES += analyzers/explain/explain_drawing.c
noinst_HEADERS += analyzers/explain/explain_drawing.h
libhalfulp_a_SOURCES += analyzers/explain/explain_frame.c
noinst_HEADERS += analyzers/explain/explain_frame.h
noinst_HEADERS += analyzers/explain/explain_inks.def
libhalfulp_a_SOURCES += analyzers/explain/explain_model.c
libhalfulp_a_SOURCES += analyzers/explain/explain_op.c
noinst_HEADERS += analyzers/explain/explain_parts.h
libhalfulp_a_SOURCES += analyzers/explain/explain_steps.c
libhalfulp_a_SOURCES += analyzers/explain/explain_svg.c
libhalfulp_a_SOURCES += analyzers/explain/explain_text.c
libhalfulp_a_SOURCES += analyzers/explain/explain_words.c
