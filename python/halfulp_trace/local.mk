# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += python/halfulp_trace/__init__.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/arena.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/callbacks.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/flat.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/formats.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/moves.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/optimizers.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/program.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/recorder.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/rundir.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/step.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/tensors.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/values.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/weak.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/which.py
nobase_dist_pkgdata_DATA += python/halfulp_trace/writes.py
