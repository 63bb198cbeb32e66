# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/store/history/course.c
noinst_HEADERS += lib/store/history/course.h
