# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/advise/trial/trials.c
noinst_HEADERS += analyzers/advise/trial/trials.h
