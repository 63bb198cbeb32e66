# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += t/op/cases/groups.def
noinst_HEADERS += t/op/cases/moves.def
noinst_HEADERS += t/op/cases/onnxruntime.def
noinst_HEADERS += t/op/cases/pointwise.def
noinst_HEADERS += t/op/cases/products.def
noinst_HEADERS += t/op/cases/updates.def
