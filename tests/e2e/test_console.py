"""The console from a job's form to its end, in a real browser: submit, watch, read, search, cancel, browse, upload, tune, compare, a shell."""

import re

import pytest

from console_world import World, run, study
from trainyard_server import Server, end_supervisors, wait_for

JOB = "/ui/p/p/jobs"


@pytest.fixture
def probe(packages):
    return packages["probe"]


def test_from_nothing_to_a_job_and_its_end(server, probe, open_console):
    page = open_console(server)
    page.wait_for_url("**/ui/start")
    page.get_by_text("trainyard run").first.wait_for()
    page.get_by_role("link", name="Buckets").click()
    page.get_by_role("button", name="New bucket").click()
    page.get_by_label("Name").fill("packages")
    page.get_by_role("button", name="Create").click()
    page.get_by_label("Files").set_input_files(probe)
    page.get_by_role("link", name=probe.name, exact=True).wait_for()

    page.goto(f"{server.url}/ui/p/p/new")
    page.get_by_label("Job id").fill("by_form")
    page.get_by_label("Packages", exact=True).fill(f"gs://packages/{probe.name}")
    page.get_by_label("Module").fill("probe.task")
    page.get_by_label("Arguments").fill("\n".join(["print", "\x1b[31mred\x1b[0m", "tick", "400", "shell", "echo epoch 1 of 9 >&2", "forever"]))
    page.get_by_label("Region").fill("")
    page.get_by_text("region").nth(1).wait_for()
    page.get_by_label("Region").fill("us-central1")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(f"**{JOB}/by_form")
    page.locator(".job-head .state", has_text="Running").wait_for()
    assert server.get("by_form")["trainingInput"]["args"][:2] == ["print", "\x1b[31mred\x1b[0m"]

    page.get_by_role("link", name="Logs", exact=True).click()
    page.get_by_text("tick 0000399").wait_for()  # it follows: nothing was asked for
    page.locator(".log-row.stderr", has_text="epoch 1 of 9").get_by_text("stderr", exact=True).wait_for()  # and no error
    page.get_by_label("Search the log").fill("tick 0000123")
    page.get_by_label("Search the log").press("Enter")
    page.get_by_text("tick 0000123").wait_for()
    page.get_by_role("link", name="Charts", exact=True).click()
    page.get_by_text("Memory").first.wait_for()

    page.get_by_role("button", name="Cancel job").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel job").click()
    page.locator(".job-head .state", has_text="Cancelled").wait_for()
    assert server.wait("by_form")["state"] == "CANCELLED"



def test_a_program_of_this_computer_becomes_a_job(server, open_console, tmp_path):
    (tmp_path / "train.py").write_text("import helper\nprint('rows:', helper.rows('data.csv'))\n")
    (tmp_path / "helper.py").write_text("def rows(path):\n    return len(open(path).readlines())\n")
    (tmp_path / "data.csv").write_text("1\n2\n3\n")
    page = open_console(server, "/ui/p/p/new")
    page.get_by_label("Choose a program or notebook…").set_input_files([tmp_path / name for name in ("helper.py", "data.csv", "train.py")])
    page.get_by_text("3 files").wait_for()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile(r"/ui/p/p/jobs/train_\d{8}_\d{6}$"))
    job_id = page.url.rsplit("/", 1)[1]
    assert server.wait(job_id)["state"] == "SUCCEEDED"
    assert "rows: 3" in server.texts(job_id)


def test_the_list_is_live_and_is_moved_through_by_keys(server, upload, open_console):
    run(server, upload, "first", "print", "one")
    server.wait("first")
    page = open_console(server, JOB)
    page.get_by_role("link", name="first").wait_for()
    page.get_by_text("Live", exact=True).wait_for()
    run(server, upload, "second", "forever")
    page.get_by_role("row").filter(has_text="second").get_by_text("Running").wait_for()
    server.cancel("second")
    page.get_by_role("row").filter(has_text="second").locator(".state", has_text="Cancelled").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{JOB}/first")
    page.go_back()
    page.get_by_role("link", name="second").wait_for()
    page.get_by_role("link", name="Machine").focus()
    page.keyboard.press("Enter")  # what has the focus is pressed, whatever the page does with that key
    page.wait_for_url("**/ui/machine")
    page.wait_for_function("() => document.title === 'Machine · Trainyard'")
    page.go_back()
    page.get_by_role("link", name="second").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("state=CANCELLE")
    page.get_by_role("option").filter(has_text="CANCELLED").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"filter=state%3DCANCELLED"))
    page.get_by_role("link", name="second").wait_for()
    assert not page.get_by_role("link", name="first").count()


def test_a_page_that_lost_its_server_says_so_and_goes_on(server, upload, open_console):
    page = open_console(server, JOB, expect_errors=("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET",
                                                    "ERR_EMPTY_RESPONSE"))
    page.get_by_text("Live", exact=True).wait_for()
    port = server.url.rsplit(":", 1)[1]
    server.kill()
    page.get_by_text("reconnecting").wait_for()
    server.listen = f"127.0.0.1:{port}"
    server.start()
    page.get_by_text("Live", exact=True).wait_for()
    run(server, upload, "afterwards", "print", "one")
    page.get_by_role("link", name="afterwards").wait_for()


@pytest.fixture(scope="module")
def world(tmp_path_factory, environments, packages):
    server = Server(tmp_path_factory.mktemp("console") / "data", environments=environments)
    yield World(server, lambda on, name: on.upload("packages", f"{name}.tar.gz", packages[name].read_bytes()))
    server.stop()
    end_supervisors(server.data)


def test_a_shell(world, open_console):
    page = open_console(world.server, f"{JOB}/census_4/shell/master-replica-0")
    page.get_by_text("Connected", exact=True).wait_for()
    page.get_by_role("region", name="Shell in master-replica-0").click()
    page.keyboard.type("echo answer=$((6 * 7))\n")
    page.get_by_text("answer=42").first.wait_for()
    page.keyboard.type("exit\n")
    page.get_by_role("button", name="Open again").wait_for()


def test_jobs_side_by_side(world, open_console):
    page = open_console(world.server, JOB)
    for job in ("census_1", "census_2"):
        page.get_by_role("row").filter(has_text=job).get_by_role("checkbox").check()
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/ui/p/p/compare?**")
    page.get_by_role("heading", name="loss").wait_for()
    page.locator("canvas").first.wait_for()


def test_a_clone_has_the_input_of_its_origin(world, open_console):
    page = open_console(world.server, f"{JOB}/census_1")
    page.get_by_role("link", name="Clone and edit").click()
    page.get_by_label("Job id").wait_for()
    assert page.get_by_label("Module").input_value() == "probe.task"
    page.get_by_label("Job id").fill("cloned")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(f"**{JOB}/cloned")
    before, after = (world.server.get(job)["trainingInput"] for job in ("census_1", "cloned"))
    assert after["args"] == before["args"] and after["packageUris"] == before["packageUris"]
    world.server.wait("cloned")


def test_a_job_is_run_again_and_deleted(world, open_console):
    page = open_console(world.server, f"{JOB}/census_3", expect_errors=("404",))  # of what is deleted while it is looked at
    assert not page.get_by_role("link", name="Shell", exact=True).count(), "it has ended"
    page.get_by_role("button", name="Rerun").click()
    page.wait_for_url(f"**{JOB}/census_5")
    assert world.server.wait("census_5")["trainingInput"]["args"] == world.server.get("census_3")["trainingInput"]["args"]
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url(f"**{JOB}")
    assert world.server.request("GET", "/v1/projects/p/jobs/census_5").status_code == 404


def test_the_table_says_why_and_is_sorted_and_grouped(world, open_console):
    page = open_console(world.server, f"{JOB}?group=team&sort=job&cols=cause,what,m:loss%20(train)")
    page.get_by_role("row").filter(has_text="census_1").get_by_text("0.07", exact=False).wait_for()  # the end of its curve
    page.get_by_role("row").filter(has_text="census_3").get_by_text("no such column: age").wait_for()  # not only that it failed
    heads = page.locator(".job-group")
    heads.first.wait_for()
    assert heads.all_inner_texts()[0].startswith("team: vision")
    page.get_by_role("columnheader", name="Job").get_by_role("button").click()
    page.wait_for_url("**sort=-job**")
    page.get_by_role("button", name="Views").click()
    page.get_by_label("Save what is shown as").fill("by team")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="All jobs").click()
    page.wait_for_url(f"**{JOB}")
    page.get_by_role("button", name="Views").click()
    page.get_by_role("link", name="by team").click()
    page.wait_for_url("**sort=-job**")


def test_a_progress_bar_is_one_line(world, open_console):
    bar = "printf 'bar 1 of 2'; sleep 1.2; printf '\\rbar 2 of 2'; sleep 1.2; printf '\\rbar is full\\n'; echo after it"
    run(world.server, world.upload, "bars", "shell", bar)
    world.server.wait("bars")
    states = [entry for entry in world.server.log_entries("bars") if entry.get("labels", {}).get("redraw")]
    assert len(states) > 1
    page = open_console(world.server, f"{JOB}/bars/logs")
    page.locator(".log-text", has_text="after it").last.wait_for()
    page.locator(".log-text", has_text=re.compile("^bar is full$")).wait_for()
    assert not page.locator(".log-row:not([hidden]) .log-text", has_text=re.compile("^bar [12] of 2$")).count()


def test_a_progress_bar_is_one_line_while_it_is_drawn(world, open_console):
    run(world.server, world.upload, "live_bar", "shell", "for i in $(seq 400); do printf '\\rbar %s of 400' $i; sleep 0.3; done")
    page = open_console(world.server, f"{JOB}/live_bar/logs")
    bar = page.locator(".log-text:visible", has_text=re.compile("^bar [0-9]+ of 400$"))
    bar.wait_for()
    for _ in range(2):
        bar.filter(has_not_text=bar.text_content()).wait_for()
        texts = page.locator(".log-row").evaluate_all(
            "rows => rows.filter((row) => row.checkVisibility()).map((row) => row.querySelector('.log-text').textContent)")
        assert len([text for text in texts if re.match("bar [0-9]+ of 400$|…", text)]) == 1, texts
    world.server.request("POST", "/v1/projects/p/jobs/live_bar:cancel", json={})
    world.server.wait("live_bar")


def test_a_folder_is_downloaded_and_deleted(world, open_console, tmp_path):
    world.server.upload("scratch", "f/a.txt", b"a")
    world.server.upload("scratch", "f/b.txt", b"b")
    page = open_console(world.server, "/ui/buckets/scratch/f/")
    with page.expect_download() as download:
        page.get_by_role("link", name="zip").click()
    download.value.save_as(tmp_path / "f.zip")
    assert (tmp_path / "f.zip").read_bytes()[:2] == b"PK"
    page.get_by_role("button", name="Delete folder").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    def left():
        return world.server.request("GET", "/storage/v1/b/scratch/o").json().get("items")
    wait_for(lambda: True if not left() else None, left)


def test_studies(world, open_console):
    study(world.server, "hills", 3)
    page = open_console(world.server, "/ui/p/p/studies")
    page.get_by_role("link", name="hills").click()
    page.wait_for_url("**/studies/hills**")
    page.get_by_text("score").first.wait_for()
