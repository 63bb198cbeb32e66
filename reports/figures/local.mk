# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += reports/figures/bound.gp
nobase_dist_pkgdata_DATA += reports/figures/difference.gp
nobase_dist_pkgdata_DATA += reports/figures/error.gp
nobase_dist_pkgdata_DATA += reports/figures/exponents.gp
nobase_dist_pkgdata_DATA += reports/figures/harm.gp
nobase_dist_pkgdata_DATA += reports/figures/loss.gp
nobase_dist_pkgdata_DATA += reports/figures/ratio.gp
nobase_dist_pkgdata_DATA += reports/figures/swamping.gp
nobase_dist_pkgdata_DATA += reports/figures/sweep.gp
nobase_dist_pkgdata_DATA += reports/figures/timeline.gp
nobase_dist_pkgdata_DATA += reports/figures/ulp.gp
nobase_dist_pkgdata_DATA += reports/figures/underflow.gp
