# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/package/abi.txt
EXTRA_DIST += t/package/shared_abi.py
SCRIPT_TESTS += t/package/t-bundle.py
SCRIPT_TESTS += t/package/t-install.sh
SCRIPT_TESTS += t/package/t-packages.py
SCRIPT_TESTS += t/package/t-reconfigure.sh
SCRIPT_TESTS += t/package/t-shared.py
SCRIPT_TESTS += t/package/t-static-check.sh
SCRIPT_TESTS += t/package/t-wheel.py
EXPENSIVE_SCRIPT_TESTS += t/package/x-container.py
EXPENSIVE_SCRIPT_TESTS += t/package/x-deb.py
EXPENSIVE_SCRIPT_TESTS += t/package/x-tarball.py
