"""Who may see the console's pages: the session's cookie, and what pages of others can do with it."""

import http.server
import threading

import pytest

from console_browser import log_in
from trainyard_server import Server, end_supervisors

UNAUTHORIZED = ("the server responded with a status of 401",)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("login") / "data", "--auth", "on", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


def cookie_of(page):
    (cookie,) = page.context.cookies()
    return cookie


def test_a_browser_is_in_the_console_and_others_are_not(guarded):
    page = guarded.request("GET", "/", headers={"Accept": "text/html,*/*;q=0.8"}, token="", allow_redirects=False)
    assert page.status_code == 302 and page.headers["Location"] == "/ui/"
    assert guarded.request("GET", "/", token="").text == "computeMetadata/\n"
    metadata = guarded.request("GET", "/", headers={"Accept": "text/html", "Metadata-Flavor": "Google"}, token="", allow_redirects=False)
    assert metadata.text == "computeMetadata/\n"


def test_logging_in_and_out(guarded, open_console):
    ann = guarded.token_for("user:ann@example.com", "roles/ml.developer")
    page = open_console(guarded, "/ui/p/p/jobs", expect_errors=UNAUTHORIZED)
    page.get_by_label("Access token").fill("ty_nobodys")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").wait_for()
    assert not page.context.cookies()
    log_in(page, ann)
    assert page.url == guarded.url + "/ui/p/p/jobs", "one is where one wanted to be"
    page.get_by_text("p has no jobs yet.").wait_for()
    cookie = cookie_of(page)
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["value"].startswith("ty_") and cookie["value"] != ann
    assert page.evaluate("() => document.cookie") == "" and ann not in page.evaluate("() => JSON.stringify({...localStorage, ...sessionStorage})")
    value = cookie["value"]
    by_cookie = {"headers": {"Cookie": f"{cookie['name']}={value}"}, "token": ""}
    assert guarded.request("GET", "/v1/projects/p/jobs", **by_cookie).ok
    assert guarded.request("GET", "/v1/projects/p/jobs", token=value).status_code == 401, "it is no Bearer token"
    page.reload()
    other = page.context.new_page()
    other.goto(guarded.url + "/ui/p/p/jobs")
    other.get_by_role("button", name="Log out").wait_for()
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="Log in to Trainyard").wait_for()
    assert guarded.request("GET", "/v1/projects/p/jobs", **by_cookie).status_code == 401, "the browser's token is revoked"
    assert page.evaluate("() => localStorage.getItem('trainyard.secret')") is None
    assert guarded.request("GET", "/v1/projects/p/jobs", token=ann).ok, "the one that was shown is not"


def test_a_session_ends_with_its_token(guarded, open_console):
    ben = guarded.token_for("user:ben@example.com", "roles/ml.developer")
    page = open_console(guarded, "/ui/p/p/jobs", expect_errors=UNAUTHORIZED)
    log_in(page, ben)
    token_id = guarded.request("GET", "/trainyard/v1/whoami", token=ben).json()["tokenId"]
    assert guarded.request("DELETE", f"/trainyard/v1/tokens/{token_id}").ok
    page.reload()
    page.get_by_role("heading", name="Log in to Trainyard").wait_for()


def test_the_cookie_alone_changes_nothing(guarded):
    """What a server of the same host name can do: the browser sends it the cookie, and it may send what it likes."""
    session = guarded.request("POST", "/trainyard/v1/session", json={"token": guarded.token}, token="")
    cookie = session.headers["Set-Cookie"].split(";")[0]
    value = cookie.split("=")[1]
    url = "/storage/v1/b?project=p"
    bucket = {"json": {"name": "made-by-cookie"}, "token": ""}
    for stolen in ({}, {"X-Trainyard-Console": "1"}, {"X-Trainyard-Console": value}, {"Authorization": f"Bearer {value}"}):
        assert guarded.request("POST", url, headers={"Cookie": cookie, **stolen}, **bucket).status_code == 401, stolen
    shell = {"Cookie": cookie, "Connection": "Upgrade", "Upgrade": "websocket",
             "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    assert guarded.request("GET", "/v1/projects/p/jobs", headers=shell, token="").status_code == 401
    assert guarded.request("POST", "/trainyard/v1/session", json={"token": value}, token="").status_code == 401
    known = guarded.request("GET", "/trainyard/v1/session", headers={"Cookie": cookie}, token="").json()
    assert known["principal"] and "secret" not in known
    assert guarded.request("GET", url, headers={"Cookie": cookie}, token="").ok
    assert guarded.request("POST", url, headers={"Cookie": cookie, "X-Trainyard-Console": session.json()["secret"]}, **bucket).ok


EVIL = """<!doctype html><title>evil</title><iframe name=hole></iframe>
<form id=f target=hole method=post enctype=text/plain action="URL/storage/v1/b?project=p"><input name='{"name":"by-form","x":"' value='"}'></form>
<form id=g target=hole method=post action="URL/trainyard/v1/session?_method=DELETE"></form>
<script>
window.seen = [];
async function attack() {
  document.getElementById('f').submit();
  const body = JSON.stringify({name: 'by-fetch'});
  for (const init of [
    {method: 'POST', mode: 'no-cors', body},
    {method: 'POST', mode: 'cors', body, headers: {'Content-Type': 'application/json', 'X-Trainyard-Console': '1'}},
    {method: 'GET', mode: 'cors'},
  ]) {
    try {
      const answer = await fetch('URL/storage/v1/b?project=p', {credentials: 'include', ...init});
      seen.push(answer.type === 'opaque' ? 'opaque' : await answer.text());
    } catch (error) { seen.push('refused'); }
  }
  try {
    const stream = await fetch('URL/trainyard/v1/session', {credentials: 'include'});
    seen.push(await stream.text());
  } catch (error) { seen.push('refused'); }
  return seen;
}
</script>"""


@pytest.fixture
def evil(guarded):
    """A page of another origin on the same host: to a browser it is the same site, and cookies know no ports."""
    asked = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = EVIL.replace("URL", guarded.url).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_of_another_origin_can_do_nothing(guarded, open_console, evil):
    page = open_console(guarded, "/ui/p/p/jobs", expect_errors=UNAUTHORIZED)
    log_in(page, guarded.token)
    other = page.context.new_page()
    other.goto(evil)
    seen = other.evaluate("() => attack()")
    assert seen == ["opaque", "refused", "refused", "refused"], seen
    names = [bucket["name"] for bucket in guarded.request("GET", "/storage/v1/b?project=p").json().get("items", [])]
    assert not [name for name in names if name.startswith("by-")], names
    page.reload()
    page.get_by_role("button", name="Log out").wait_for()
    framed = other.evaluate("""async url => {
        const frame = document.createElement('iframe');
        frame.src = url;
        document.body.append(frame);
        await new Promise(done => { frame.onload = done; frame.onerror = done; });
        try { return frame.contentDocument === null ? 'closed' : frame.contentDocument.body.innerText; } catch { return 'closed'; }
    }""", guarded.url + "/ui/")
    assert framed == "closed", "no page frames the console"


def test_a_new_member_sees_her_project_before_any_job_is_there(guarded, open_console):
    eve = guarded.token_for("user:eve@example.com", "roles/trainyard.member", project="vision")
    page = open_console(guarded, "/ui/", expect_errors=UNAUTHORIZED)
    log_in(page, eve)
    page.get_by_role("heading", name="First steps").wait_for()
    assert page.get_by_label("Project").input_value() == "vision"
    page.get_by_role("link", name="Buckets").click()
    page.get_by_text("vision has no buckets yet.").wait_for()
    page.get_by_role("link", name="New job").click()
    page.wait_for_url("**/ui/p/vision/new")
