# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/underflow/underflow.c
libhalfulp_a_SOURCES += analyzers/run/underflow/underflow_call.c
noinst_HEADERS += analyzers/run/underflow/underflow_call.h
