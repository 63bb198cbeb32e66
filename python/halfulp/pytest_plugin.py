# SPDX-License-Identifier: Apache-2.0
# The fixture `numerics` of pytest, which holds what a test computes to what it computed at the last commit.
"""For pytest: tensors of a test are held to what they were.

    def test_forward(numerics):
        numerics('logits', model(x))                      # a NumPy array or a torch tensor
        numerics('loss', loss.item())
        numerics.rule('logits: ulps(fp16) <= 2')          # the first rule that matches counts

The files lie in numerics/ beside the tests, one for each test: commit them. `pytest --numerics-update` writes them.
"""
import os

import pytest

from .holding import Numerics, file_of


def pytest_addoption(parser):
    parser.addoption("--numerics-update", action="store_true", help="write what tests compute as what later tests are held to")


@pytest.fixture
def numerics(request):
    folder = os.path.join(os.path.dirname(str(request.node.path)), "numerics")
    return Numerics(os.path.join(folder, file_of(request.node.nodeid)), request.config.getoption("--numerics-update"))


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Judges as part of the test itself, so that drift is a failure of the test and none of its teardown."""
    outcome = yield
    outcome.get_result()
    held = pyfuncitem.funcargs.get("numerics")
    said = held.verdict() if isinstance(held, Numerics) else ""
    if said:
        failure = pytest.fail.Exception(said, pytrace=False)
        if not hasattr(outcome, "force_exception"):          # before pluggy 1.1
            raise failure
        outcome.force_exception(failure)
