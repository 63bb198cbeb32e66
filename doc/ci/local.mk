# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/ci/gate.sh
EXTRA_DIST += doc/ci/github.yml
EXTRA_DIST += doc/ci/gitlab.yml
EXTRA_DIST += doc/ci/program.sh
EXTRA_DIST += doc/ci/tensors.yml
