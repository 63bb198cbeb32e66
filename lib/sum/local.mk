# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/sum/bound.h
noinst_HEADERS += lib/sum/bound_rule.h
noinst_HEADERS += lib/sum/collective.h
noinst_HEADERS += lib/sum/compensated.h
noinst_HEADERS += lib/sum/flush.h
noinst_HEADERS += lib/sum/hops.h
noinst_HEADERS += lib/sum/ozaki.h
noinst_HEADERS += lib/sum/result.h
noinst_HEADERS += lib/sum/roundings.h
noinst_HEADERS += lib/sum/slices.h
noinst_HEADERS += lib/sum/step.h
noinst_HEADERS += lib/sum/sum.h
noinst_HEADERS += lib/sum/sum_unit.h
noinst_HEADERS += lib/sum/sums.def
noinst_HEADERS += lib/sum/tree.h
noinst_HEADERS += lib/sum/tree.inc
