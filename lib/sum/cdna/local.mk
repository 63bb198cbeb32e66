# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/sum/cdna/units.h
noinst_HEADERS += lib/sum/cdna/wide.h
