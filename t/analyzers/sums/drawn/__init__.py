# SPDX-License-Identifier: Apache-2.0
# The drawings of calc --explain, computed again.
