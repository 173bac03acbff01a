"""Libraries that submit jobs, unmodified, below `trainyard with`: what they import beside Google's clients is a stand-in."""

import json
import subprocess
import sys

import pytest

from test_clients_with import run_with  # noqa: F401
from trainyard_server import RUNTIME

pytestmark = pytest.mark.long

# Imports everything below the given names as something that answers every question with itself.
STAND_INS = '''
import importlib.abc, importlib.machinery, sys, types
from unittest import mock
class StandIn(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return mock.MagicMock(name=name)
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if any(name == known or name.startswith(known + ".") for known in KNOWN):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return StandIn(spec.name)
    def exec_module(self, module):
        pass
sys.meta_path.insert(0, Finder())
'''

INPUT = {"region": "us-central1", "scaleTier": "BASIC", "runtimeVersion": RUNTIME, "pythonModule": "probe.task"}

PROGRAMS = {
    # It sends "custom", snake_case names among camelCase ones, and accelerators of count 0.
    "tensorflow-cloud==0.1.16": (["docker", "tensorflow", "tensorflow_datasets", "absl", "google.cloud.storage"], '''
import types
package = types.ModuleType("tensorflow_cloud"); package.__path__ = [WHERE + "/tensorflow_cloud"]; sys.modules["tensorflow_cloud"] = package
core = types.ModuleType("tensorflow_cloud.core"); core.__path__ = [WHERE + "/tensorflow_cloud/core"]; sys.modules["tensorflow_cloud.core"] = core
from tensorflow_cloud.core import deploy, gcp, machine_config
gcp.get_project_name, gcp.get_region = lambda: "p", lambda: "us-central1"
configs = machine_config.COMMON_MACHINE_CONFIGS
job = deploy.deploy_job("127.0.0.1:9/none/here:v1", configs["CPU"], 1, configs["CPU"], ["--epochs", "2"], False)
print("JOB", job)
'''),
    "kubeflow-fairing==1.0.2": (["kubernetes", "docker", "google.cloud.logging_v2", "kubeflow.fairing.utils", "kubeflow.fairing.cloud", "boto3"], '''
import types
for name in "kubeflow.fairing", "kubeflow.fairing.deployers", "kubeflow.fairing.deployers.gcp":
    package = types.ModuleType(name); package.__path__ = [WHERE + "/" + name.replace(".", "/")]; sys.modules[name] = package
sys.modules["kubeflow.fairing"].__version__ = "1.0.2"
from kubeflow.fairing.deployers.gcp import gcp
gcp.utils.random_tag = lambda: "tagged"
image = types.SimpleNamespace(containers=[types.SimpleNamespace(image="127.0.0.1:9/none/here:v1")])
print("JOB", gcp.GCPJob("p", "us-central1", "BASIC", {"trainingInput": {"args": ["--epochs", "2"]}}).deploy(image))
'''),
    "tensor2tensor==1.15.7": (["tensorflow", "oauth2client"], '''
import types
for name in "tensor2tensor", "tensor2tensor.utils":
    package = types.ModuleType(name); package.__path__ = [WHERE + "/" + name.replace(".", "/")]; sys.modules[name] = package
for name in "data_generators", "layers", "utils.registry", "utils.usr_dir":
    KNOWN.append("tensor2tensor." + name)
from tensor2tensor.utils import cloud_mlengine
import google.auth
cloud_mlengine.text_encoder.native_to_unicode = str
cloud_mlengine.default_project = lambda: "p"
cloud_mlengine.GoogleCredentials.get_application_default = lambda: google.auth.default()[0]
cloud_mlengine.launch_job({"jobId": "t2t", "trainingInput": {**INPUT, "packageUris": [PACKAGE]}})
print("JOB t2t")
'''),
    # It asks for snake_case names only.
    "tfx==1.14.0": (["absl", "google.cloud.aiplatform", "google.cloud.aiplatform_v1", "tfx.types", "tfx.utils.version_utils"], '''
import types
for name in "tfx", "tfx.utils", "tfx.extensions", "tfx.extensions.google_cloud_ai_platform":
    package = types.ModuleType(name); package.__path__ = [WHERE + "/" + name.replace(".", "/")]; sys.modules[name] = package
from tfx.extensions.google_cloud_ai_platform import training_clients
client = training_clients.CAIPJobClient()
client.launch_job("p", {"job_id": "tfx", "training_input": {**INPUT, "package_uris": [PACKAGE]}})
import time
while client.get_job_state(client.get_job()) not in ("SUCCEEDED", "FAILED"):
    time.sleep(0.2)
print("JOB tfx")
'''),
    "gcloud-utils==2.20.5": (["oauth2client"], '''
import types
package = types.ModuleType("gcloud_utils"); package.__path__ = [WHERE + "/gcloud_utils"]; sys.modules["gcloud_utils"] = package
from gcloud_utils.ml_engine import MlEngine
engine = MlEngine("p", "out", "us-central1")
body = {"jobId": "utils", "trainingInput": {**INPUT, "packageUris": [PACKAGE]}}
engine.client.projects().jobs().create(parent=engine.parent, body=body).execute()
engine.wait_job_to_finish("utils", sleep_time=1)
print("JOB utils")
'''),
    "apache-airflow-providers-google==10.0.0": (["airflow", "aiohttp", "gcloud"], '''
import functools, google.auth, google_auth_httplib2, httplib2, logging, types
KNOWN.remove("airflow")
hooks = types.ModuleType("base_google")
class GoogleBaseHook:
    num_retries, log = 0, logging.getLogger()
    fallback_to_default_project_id = staticmethod(lambda function: function)
    def _authorize(self):
        return google_auth_httplib2.AuthorizedHttp(google.auth.default()[0], http=httplib2.Http())
hooks.GoogleBaseHook, hooks.GoogleBaseAsyncHook = GoogleBaseHook, object
base = types.ModuleType("airflow.exceptions"); base.AirflowException = RuntimeError
version = types.ModuleType("airflow.version"); version.version = "2.6.0"
sys.modules |= {"airflow.exceptions": base, "airflow.version": version, "airflow.providers.google.common.hooks.base_google": hooks}
for name in ("airflow", "airflow.providers", "airflow.providers.google", "airflow.providers.google.cloud", "airflow.providers.google.cloud.hooks",
             "airflow.providers.google.common", "airflow.providers.google.common.hooks"):
    package = types.ModuleType(name); package.__path__ = [WHERE + "/" + name.replace(".", "/")]; sys.modules[name] = package
from airflow.providers.google.cloud.hooks.mlengine import MLEngineHook
hook = MLEngineHook()
body = {"jobId": "flow", "trainingInput": {**INPUT, "packageUris": [PACKAGE]}}
assert hook.create_job(job=body, project_id="p")["state"] == "SUCCEEDED"
same = lambda job: job.get("trainingInput") == body["trainingInput"]
again = hook.create_job(job=body, project_id="p", use_existing_job_fn=same)  # it compares what it sent with what it is shown
assert again["state"] == "SUCCEEDED", again
hook.cancel_job(project_id="p", job_id="flow")  # of an ended job: 400, which it takes for the end
print("JOB flow")
'''),
}


@pytest.mark.parametrize("package", PROGRAMS, ids=lambda package: package.partition("=")[0])
def test_a_library_that_submits_jobs(package, server, run_with, upload, tmp_path):  # noqa: F811
    library = tmp_path / "library"
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--ignore-requires-python", "--target", str(library),
                           package, "six"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{package} cannot be had: " + done.stderr.strip().splitlines()[-1])
    known, program = PROGRAMS[package]
    settings = {"KNOWN": known, "WHERE": str(library), "INPUT": INPUT, "PACKAGE": upload(server, "probe")}
    text = "".join(f"{name} = {value!r}\n" for name, value in settings.items()) + STAND_INS + program
    (tmp_path / "submit.py").write_text(text)
    done = run_with(sys.executable, str(tmp_path / "submit.py"), PYTHONPATH=str(library))
    assert done.returncode == 0, done.stdout + done.stderr
    job_id = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("JOB "))
    job = server.get(job_id)
    if "masterConfig" in job["trainingInput"]:  # the image is nowhere: such a job waits
        server.cancel(job_id)
        server.wait(job_id)
    else:
        job = server.wait(job_id)
        assert job["state"] == "SUCCEEDED", json.dumps(job)
    assert job["trainingInput"]["scaleTier"] == ("CUSTOM" if package.startswith("tensorflow-cloud") else "BASIC")
