# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += python/halfulp_sums.py
nobase_dist_pkgdata_DATA += python/wheel.py
