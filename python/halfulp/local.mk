# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += python/halfulp/__init__.py
nobase_dist_pkgdata_DATA += python/halfulp/arrays.py
nobase_dist_pkgdata_DATA += python/halfulp/holding.py
nobase_dist_pkgdata_DATA += python/halfulp/kernels.py
nobase_dist_pkgdata_DATA += python/halfulp/models.py
nobase_dist_pkgdata_DATA += python/halfulp/program.py
nobase_dist_pkgdata_DATA += python/halfulp/pytest_plugin.py
