"""Unmodified clients: gcloud, our own command line, google-api-python-client, google-cloud-storage, Node's googleapis."""

import os
import re
import subprocess
import sys

import pytest

from trainyard_server import ROOT


@pytest.fixture
def package(tmp_path):
    """A trainer as a user has it: a package folder without a setup.py."""
    folder = tmp_path / "app/trainer"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "task.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--user_first_arg')\n"
        "parser.add_argument('--user_second_arg')\nparser.add_argument('--job-dir')\nprint('SAW', parser.parse_args())\n")
    return folder


def seed_command(package, job_id):
    return ["jobs", "submit", "training", job_id, "--package-path", str(package), "--module-name", "trainer.task",
            "--job-dir", "gs://bucket/dir", "--region", "us-central1", "--scale-tier", "basic", "--stream-logs",
            "--", "--user_first_arg=a", "--user_second_arg=b"]


def gcloud_environment(server, tmp_path):
    return {**os.environ, **server.client_environment(), "CLOUDSDK_CORE_PROJECT": "p", "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
            "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "1", "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}


EXPECTED = "SAW Namespace(user_first_arg='a', user_second_arg='b', job_dir='gs://bucket/dir')"


def test_the_seed_command_with_gcloud(server, upload, package, gcloud, tmp_path):
    # gcloud reads no further once it has seen endTime, and looks for it when the log was silent for ten seconds, as it is while the
    # first environment of a server is built: that is not what is tested here.
    server.submit("warm", packageUris=[upload(server, "probe")], pythonModule="probe.task")
    server.wait("warm")
    environment = gcloud_environment(server, tmp_path)
    run = subprocess.run([gcloud, "ai-platform", *seed_command(package, "from_gcloud")], capture_output=True, text=True,
                         env=environment, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr + server.stderr()
    assert "Job [from_gcloud] submitted successfully." in run.stderr
    assert EXPECTED in run.stderr and "Job completed successfully." in run.stderr
    assert server.get("from_gcloud")["state"] == "SUCCEEDED"
    describe = subprocess.run([gcloud, "ai-platform", "jobs", "describe", "from_gcloud"], capture_output=True, text=True,
                              env=environment, timeout=120)
    assert describe.returncode == 0 and "state: SUCCEEDED" in describe.stdout
    listed = subprocess.run([gcloud, "ai-platform", "jobs", "list"], capture_output=True, text=True, env=environment, timeout=120)
    assert "from_gcloud" in listed.stdout and "SUCCEEDED" in listed.stdout


def test_the_seed_command_with_our_own(server, package):
    run = server.trainyard(*seed_command(package, "from_cli"))
    assert run.returncode == 0, run.stdout + run.stderr + server.stderr()
    assert "Job [from_cli] submitted successfully." in run.stderr and EXPECTED in run.stderr
    assert "state: SUCCEEDED" in server.trainyard("jobs", "describe", "from_cli").stdout
    assert "from_cli" in server.trainyard("jobs", "list").stdout
    updated = server.trainyard("jobs", "update", "from_cli", "--update-labels", "team=a")
    assert updated.returncode == 0, updated.stderr
    assert server.get("from_cli")["labels"] == {"team": "a"}
    logs = server.trainyard("jobs", "stream-logs", "from_cli")
    assert logs.returncode == 0 and EXPECTED in logs.stdout


PYTHON_EXAMPLE = '''
import sys
from googleapiclient import discovery, errors

training_inputs = {"scaleTier": "BASIC", "packageUris": [sys.argv[1]], "pythonModule": "probe.task",
                   "args": ["print", "from python"], "region": "us-central1", "jobDir": "gs://my_bucket/out"}
job_spec = {"jobId": "from_python", "trainingInput": training_inputs}
cloudml = discovery.build("ml", "v1"%s)
request = cloudml.projects().jobs().create(body=job_spec, parent="projects/p")
print("STATE", request.execute()["state"])
try:
    cloudml.projects().jobs().create(body=job_spec, parent="projects/p").execute()
except errors.HttpError as err:
    print("REASON", err._get_reason())
print("LISTED", [job["jobId"] for job in cloudml.projects().jobs().list(parent="projects/p").execute()["jobs"]])
'''

REASON = "REASON Field: job.job_id Error: A job with this id already exists."


def without_state(text):
    """The lines; the refusal says which state the other job has, which nobody can know beforehand."""
    return re.sub(r"(?<=already exists\.) It is [A-Z]+\.", "", text).splitlines()


def test_google_api_python_client_with_an_endpoint(server, upload):
    options = (f''', client_options={{"api_endpoint": "{server.url}"}}, static_discovery=False,
               discoveryServiceUrl="{server.url}/$discovery/rest?version={{apiVersion}}",
               credentials=__import__("google.auth.credentials").auth.credentials.AnonymousCredentials()''')
    run = subprocess.run([sys.executable, "-c", PYTHON_EXAMPLE % options, upload(server, "probe")], capture_output=True, text=True,
                         timeout=120)
    assert run.returncode == 0, run.stderr
    assert without_state(run.stdout) == ["STATE QUEUED", REASON, "LISTED ['from_python']"]
    assert server.wait("from_python")["state"] == "SUCCEEDED"


def test_google_api_python_client_without_an_argument(server, upload, with_localhost_names):
    environment = {**os.environ, **server.client_environment()}
    command = with_localhost_names([sys.executable, "-c", PYTHON_EXAMPLE % "", upload(server, "probe")])
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert run.returncode == 0, run.stderr
    assert without_state(run.stdout) == ["STATE QUEUED", REASON, "LISTED ['from_python']"]


STORAGE_EXAMPLE = '''
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
client = storage.Client(project="p", credentials=AnonymousCredentials())
bucket = client.create_bucket("fresh-bucket")
blob = bucket.blob("a/b.txt")
blob.upload_from_string("content")
print(bucket.blob("a/b.txt").download_as_bytes(), [b.name for b in client.list_blobs("fresh-bucket", prefix="a/")])
big = bucket.blob("big")
big.chunk_size = 1 << 20
big.upload_from_string(b"x" * (3 << 20))
print(len(big.download_as_bytes(checksum="crc32c")), bucket.copy_blob(blob, bucket, "c").name)
blob.delete()
print([b.name for b in client.list_blobs("fresh-bucket")])
'''


def test_google_cloud_storage(server):
    run = subprocess.run([sys.executable, "-c", STORAGE_EXAMPLE], capture_output=True, text=True, timeout=120,
                         env={**os.environ, "STORAGE_EMULATOR_HOST": server.url})
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["b'content' ['a/b.txt']", f"{3 << 20} c", "['big', 'c']"]


NODE_EXAMPLE = '''
const {google} = require('googleapis');
(async () => {
  const ml = google.ml({version: 'v1', rootUrl: process.argv[1] + '/'});
  const requestBody = {jobId: 'from_node', trainingInput: {scaleTier: 'BASIC', packageUris: [process.argv[2]],
      pythonModule: 'probe.task', region: 'us-central1', args: ['print', 'from node']}};
  const created = await ml.projects.jobs.create({parent: 'projects/p', requestBody});
  console.log('STATE', created.data.state);
  try { await ml.projects.jobs.create({parent: 'projects/p', requestBody}); } catch (error) { console.log('REASON', error.message); }
  await ml.projects.jobs.cancel({name: 'projects/p/jobs/from_node'}).catch(() => {});
  const job = await ml.projects.jobs.get({name: 'projects/p/jobs/from_node'});
  console.log('ID', job.data.jobId);
})().catch(error => { console.error(error); process.exit(1); });
'''


def test_node_googleapis(server, upload, node):
    run = subprocess.run([node, "-e", NODE_EXAMPLE, server.url, upload(server, "probe")], capture_output=True, text=True,
                         cwd=ROOT / "build/node", timeout=120)
    assert run.returncode == 0, run.stderr
    assert without_state(run.stdout) == ["STATE QUEUED", REASON, "ID from_node"]
