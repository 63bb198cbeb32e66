# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/sum/sum.h
noinst_HEADERS += lib/sum/sums.def
