"""A real browser on the server's console. What a page does wrong by itself (an error, a violation of the policy, a request to elsewhere) fails
the test that opened it."""

import contextlib
import shutil
import urllib.parse

import pytest

PROGRAM = "chromium-headless-shell"
DEADLINE_MS = 60_000  # a sanitized server beside busy cores


@pytest.fixture(scope="session")
def chromium():
    program = shutil.which(PROGRAM)
    if not program:
        pytest.skip(f"no {PROGRAM} on PATH")
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@pytest.fixture
def open_console(chromium):
    """open_console(server, path="/", **context) -> a page of a browser of its own (no cookies, no storage)."""
    with contextlib.ExitStack() as closing:
        faults: list[str] = []

        def open_page(server, path="/", expect_errors=(), **options):
            """`expect_errors`: parts of messages that belong to the test: Chromium writes each 4xx to its console."""
            context = closing.enter_context(contextlib.closing(chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})))
            context.set_default_timeout(DEADLINE_MS)
            page = context.new_page()
            watch(page, server, faults, expect_errors)
            page.goto(server.url + path)
            return page

        yield open_page
        assert not faults, faults


def watch(page, server, faults, expect_errors):
    own = urllib.parse.urlsplit(server.url).netloc

    def said(message):
        if message.type in ("error", "warning") and not any(part in message.text for part in expect_errors):
            faults.append(f"{message.type}: {message.text} {message.location['url']}")

    def asked(request):
        url = urllib.parse.urlsplit(request.url)
        if url.scheme not in ("blob", "data") and url.netloc != own:
            faults.append(f"a request to elsewhere: {request.url}")

    page.on("console", said)
    page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
    page.on("request", asked)


def log_in(page, token):
    page.get_by_label("Access token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="Log out").wait_for()
