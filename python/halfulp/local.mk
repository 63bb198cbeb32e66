# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += python/halfulp/__init__.py
