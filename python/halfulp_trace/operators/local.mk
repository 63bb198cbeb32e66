# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/__init__.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/arithmetic.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/conv.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/copies.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/dropout.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/index.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/loss.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/matmul.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/norm.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/operands.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/pointwise.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/pool.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/reduce.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/scaler.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/silent.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/operators/table.py
