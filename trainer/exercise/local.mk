# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/exercise/exercise.c
noinst_HEADERS += trainer/exercise/exercise.h
