"""Every unmodified client on another machine, logged in over TLS by a key file and by a token, and refused without. What CI runs of it:
test_clients_logged_in.py. Run by ./dev test --long."""

import json

import pytest

from neighbour import Yard, yard  # fixture  # noqa: F401
from test_clients_logged_in import check

pytestmark = pytest.mark.long
LOGINS = pytest.mark.parametrize("login", ["key", "token"])
TASK = "import sys\nprint('SAW', sys.argv[1:])\n"


@pytest.fixture(scope="module")
def package(yard):  # noqa: F811
    folder = yard.folder / "app/trainer"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "task.py").write_text(TASK)
    (yard.folder / "greeting").write_text("hello")
    return folder


@pytest.fixture
def run_gcloud(yard, gcloud, package):  # noqa: F811
    """By login: the command, logged in as gcloud's user would."""
    def make(login):
        variables = yard.gcloud_variables("long-" + login)
        if login == "key":
            check(yard.run(gcloud, "auth", "activate-service-account", "--key-file", yard.key, **variables))
        else:
            variables["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"] = yard.token_file
        return lambda *words, **more: yard.run(gcloud, *words, **{**variables, **more})
    return make


@LOGINS
def test_the_seed_command(yard, run_gcloud, package, login):  # noqa: F811
    run = run_gcloud(login)
    check(run("storage", "buckets", "create", f"gs://jobs-{login}"))
    done = run("ai-platform", "jobs", "submit", "training", f"by_{login}", "--package-path", package, "--module-name", "trainer.task",
               "--job-dir", f"gs://jobs-{login}/dir", "--region", "us-central1", "--scale-tier", "basic", "--", "--a=1")
    check(done)
    assert "submitted successfully" in done.stderr
    assert yard.server.wait(f"by_{login}")["state"] == "SUCCEEDED"
    streamed = run("ai-platform", "jobs", "stream-logs", f"by_{login}")
    assert f"SAW ['--a=1', '--job-dir', 'gs://jobs-{login}/dir']" in check(streamed) + streamed.stderr
    assert "state: SUCCEEDED" in check(run("ai-platform", "jobs", "describe", f"by_{login}"))
    check(run("ai-platform", "jobs", "update", f"by_{login}", "--update-labels", "team=a"))  # a developer may, what they made


@LOGINS
def test_gcloud_storage(yard, run_gcloud, login):  # noqa: F811
    run, bucket = run_gcloud(login), f"gs://gcloud-{login}"
    check(run("storage", "buckets", "create", bucket))
    check(run("storage", "cp", yard.folder / "greeting", bucket + "/a/greeting"))
    assert check(run("storage", "cat", bucket + "/a/greeting")) == "hello"
    big = yard.folder / "big"
    big.write_bytes(b"x" * 9_000_001)
    check(run("storage", "cp", big, bucket + "/big", CLOUDSDK_STORAGE_RESUMABLE_THRESHOLD="1Mi"))
    check(run("storage", "cp", bucket + "/big", yard.folder / "back"))
    assert (yard.folder / "back").read_bytes() == big.read_bytes()
    check(run("storage", "mv", bucket + "/big", bucket + "/moved"))
    assert check(run("storage", "ls", bucket + "/**")).split() == [f"{bucket}/a/greeting", f"{bucket}/moved"]
    check(run("storage", "rm", "-r", bucket))


def test_other_ways_into_gcloud(yard, gcloud, run_gcloud, package):  # noqa: F811
    words = ("ai-platform", "jobs", "list", "--format=value(jobId)")
    by_cred_file = yard.gcloud_variables("long-cred-file")
    check(yard.run(gcloud, "auth", "login", f"--cred-file={yard.key}", **by_cred_file))
    check(yard.run(gcloud, *words, **by_cred_file))
    check(yard.run(gcloud, *words, CLOUDSDK_AUTH_SERVICE_ACCOUNT_USE_SELF_SIGNED_JWT="true", **by_cred_file))
    by_account = yard.gcloud_variables("long-account")
    check(yard.run(gcloud, "auth", "login", f"--cred-file={yard.account_file()}", **by_account))
    check(yard.run(gcloud, *words, **by_account))
    fresh = yard.gcloud_variables("long-fresh")
    check(yard.run(gcloud, *words, CLOUDSDK_AUTH_ACCESS_TOKEN=yard.token, **fresh))
    check(yard.run(gcloud, *words, f"--access-token-file={yard.token_file}", **fresh))
    refused = yard.run(gcloud, *words, CLOUDSDK_AUTH_DISABLE_CREDENTIALS="true", **fresh)
    assert refused.returncode == 1 and "UNAUTHENTICATED: Request is missing required authentication credential." in refused.stderr
    refused = yard.run(gcloud, *words, CLOUDSDK_AUTH_ACCESS_TOKEN="ty_nobodys", **fresh)
    assert refused.returncode == 1 and "reason: ACCESS_TOKEN_TYPE_UNSUPPORTED" in refused.stderr
    refused = yard.run(gcloud, "storage", "ls", "gs://jobs-key", CLOUDSDK_AUTH_DISABLE_CREDENTIALS="true", **fresh)
    assert refused.returncode == 1 and "401: Anonymous caller does not have storage.objects.list access" in refused.stderr


def test_impersonation(yard, run_gcloud):  # noqa: F811
    run = run_gcloud("token")
    words = ("ai-platform", "jobs", "list", f"--impersonate-service-account={Yard.ACCOUNT}")
    refused = run(*words)
    assert refused.returncode == 1 and "iam.serviceAccounts.getAccessToken" in refused.stderr, refused.stderr
    administrator = {"CLOUDSDK_AUTH_ACCESS_TOKEN": yard.server.token}
    check(run("iam", "service-accounts", "add-iam-policy-binding", Yard.ACCOUNT, "--member=user:ann@example.com",
              "--role=roles/iam.serviceAccountTokenCreator", **administrator))
    check(run(*words))


def test_the_setup_steps_of_the_tpu_page(yard, run_gcloud):  # noqa: F811
    """As its text has them: a token for curl, the project's configuration, the TPU's account, a role for it."""
    run = run_gcloud("token")
    administrator = {"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": yard.server.data / "admin-token"}
    token = check(run("auth", "print-access-token", **administrator)).strip()
    config = json.loads(check(yard.run("curl", "-sSf", "--cacert", yard.ca, "-H", "Authorization: Bearer " + token,
                                       yard.url + "/v1/projects/p:getConfig")))
    account = config["config"]["tpuServiceAccount"]
    created = run("beta", "services", "identity", "create", "--service", "tpu.googleapis.com", "--project", "p", **administrator)
    assert f"Service identity created: {account}" in check(created) + created.stderr
    bound = run("projects", "add-iam-policy-binding", "p", f"--member=serviceAccount:{account}", "--role=roles/ml.serviceAgent",
                "--format=json", **administrator)
    assert {"role": "roles/ml.serviceAgent", "members": ["serviceAccount:" + account]} in json.loads(check(bound))["bindings"]
    check(run("services", "enable", "ml.googleapis.com", "tpu.googleapis.com", **administrator))
    refused = run("projects", "add-iam-policy-binding", "p", f"--member=serviceAccount:{account}", "--role=roles/owner")
    assert refused.returncode == 1 and "resourcemanager.projects." in refused.stderr


@pytest.fixture
def gsutil(yard, runtime, environments):  # noqa: F811
    return next(environments.glob(f"runtimes/{runtime('2.15')}-*/bin/gsutil"))


def boto(yard, login):  # noqa: F811
    host, port = yard.authority.split(":")
    credential = {"key": f"gs_service_key_file = {yard.key}", "token": f"gs_oauth2_refresh_token = {yard.token}",
                  "none": ""}[login]
    path = yard.folder / f"boto-{login}"
    path.write_text(f"[Credentials]\n{credential}\ngs_json_host = {host}\ngs_json_port = {port}\n"
                    f"[Boto]\nca_certificates_file = {yard.ca}\nnum_retries = 1\n"
                    f"[OAuth2]\nprovider_token_uri = {yard.url}/token\nclient_id = x\nclient_secret = x\n"
                    f"[GSUtil]\nstate_dir = {yard.folder}/gsutil-{login}\ndefault_project_id = p\nprefer_api = json\n"
                    "software_update_check_period = 0\n")
    return {"BOTO_CONFIG": path, "CLOUDSDK_CONFIG": yard.folder / "no-gcloud", "GCE_METADATA_HOST": "127.0.0.1:1"}


@LOGINS
def test_gsutil(yard, gsutil, package, login):  # noqa: F811
    variables, bucket = boto(yard, login), f"gs://gsutil-{login}"
    for words in (["mb", bucket], ["cp", yard.folder / "greeting", bucket + "/a/b"], ["rsync", "-r", package, bucket + "/code"]):
        check(yard.run(gsutil, *words, **variables))
    assert check(yard.run(gsutil, "cat", bucket + "/a/b", **variables)) == "hello"
    assert bucket + "/code/task.py" in check(yard.run(gsutil, "ls", "-r", bucket, **variables))
    check(yard.run(gsutil, "-m", "rm", "-r", bucket, **variables))


def test_gsutil_without_credentials(yard, gsutil):  # noqa: F811
    refused = yard.run(gsutil, "ls", "gs://anybodys", **boto(yard, "none"))
    assert refused.returncode == 1 and "401 Anonymous caller does not have storage.objects.list access" in refused.stderr, refused.stderr


@LOGINS
@pytest.mark.parametrize("age, python", [("1.7.12", "3.7"), ("1.12.11", "3.8"), ("2.0.2", "3.9"), ("2.70.0", "3.10")])
def test_older_google_api_python_clients(yard, login, age, python):  # noqa: F811
    """Those before 2.0 read the discovery document, without a token, and its origin."""
    from test_clients_of_any_age import find_python, venv
    program = venv(f"google-api-python-client-{age}", find_python(python), f"google-api-python-client=={age}", "requests") / "python"
    own = 'discoveryServiceUrl=os.environ["SERVER"] + "/$discovery/rest?version={apiVersion}", cache_discovery=False'
    if age.startswith("2"):
        own += ", static_discovery=False"
    code = (f'import os\nfrom googleapiclient import discovery\nml = discovery.build("ml", "v1", {own})\n'
             'print(sorted(ml.projects().jobs().list(parent="projects/p", pageSize=1).execute()))\n')
    credentials = yard.key if login == "key" else yard.account_file()
    check(yard.run(program, "-c", code, **yard.python_variables(credentials)))
