# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/ci/github.yml
EXTRA_DIST += doc/ci/gitlab.yml
