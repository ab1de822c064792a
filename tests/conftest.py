import functools
import gc
import os
import shutil
import ssl
import sys
from contextlib import contextmanager

import pytest
from hypothesis import settings

# The matrices of tests are small, and threads of OpenBLAS that wait for each other on a busy
# machine take ten times as long. Read when numpy is first imported; servers and commands that
# tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import segviz
from segviz.embedding import HashingEmbedder
from segviz.memory import Memory
from tests.data import ROOT
from tests.trees import small_chat

# Compiled once, not by every process and its commands; Git ignores the files.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

collect_ignore = ["plugins/example"]  # installed by a test, and its own tests run there

# Times belong to a machine: no test fails for being slow. The same examples are drawn at every run,
# so that a failure belongs to a change; `--hypothesis-profile search` draws others, and more.
settings.register_profile("segviz", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("segviz")


@pytest.fixture(scope="session", autouse=True)
def in_the_project():
    """Streamlit reads the settings of the working folder, and tests may be run from any."""
    before = os.getcwd()
    os.chdir(ROOT)
    yield
    os.chdir(before)


@pytest.fixture(autouse=True)
def own_main():
    """Streamlit's AppTest leaves its script as ``__main__``, which processes that a later test
    starts would try to run."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session", autouse=True)
def certificates_are_read_once():
    """For every client of a model they take a thirtieth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session")
def memory() -> Memory:
    """A small memory that needs no model: hashing embedder, cosine compatibility."""
    return segviz.build(
        small_chat(), unit="turn", embedder=HashingEmbedder(), compatibility="cosine"
    )


@pytest.fixture(scope="session")
def cluster():
    """A Dask cluster of two worker processes. One that a test kills is started again."""
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        host="127.0.0.1",
        silence_logs=50,
    ) as cluster:
        yield cluster


def pytest_collection_finish():
    """Collects garbage less often, and not among what was imported, which shortens the run."""
    gc.freeze()
    gc.set_threshold(20_000)


def pytest_collection_modifyitems(items):
    """What starts a browser is marked so, wherever it stands: ``-m "not browser"`` leaves it
    out."""
    for item in items:
        if {"chromium", "drawer"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)


LAUNCH = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@contextmanager
def launched(without):
    """A Chromium of Playwright's; calls ``without`` with the reason where there is none."""
    path = os.environ.get("SEGVIZ_CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    if path is None:
        without("no Chromium found (apt-get install chromium, or set SEGVIZ_CHROMIUM)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chromium():
    """One real Chromium for the whole run (Playwright allows one at a time per process)."""
    with launched(pytest.fail if os.environ.get("SEGVIZ_REQUIRE_BROWSER") else pytest.skip) as one:
        yield one
