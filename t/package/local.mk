# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/package/t-bundle.py
SCRIPT_TESTS += t/package/t-packages.py
EXPENSIVE_SCRIPT_TESTS += t/package/x-container.py
EXPENSIVE_SCRIPT_TESTS += t/package/x-deb.py
EXPENSIVE_SCRIPT_TESTS += t/package/x-tarball.py
