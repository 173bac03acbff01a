"""The connection to a server, and what starts jobs there."""

from __future__ import annotations

import datetime
import getpass
import hashlib
import http.client
import os
import pathlib
import re
import sys
from secrets import token_hex
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import httplib2
from googleapiclient import discovery, errors
from googleapiclient.http import MediaInMemoryUpload

from trainyard import _errors, _package, _settings
from trainyard._job import Job
from trainyard._package import Arguments
from trainyard._table import TableLike, make_table
from trainyard._transport import Transport

Program = Union[str, "os.PathLike[str]", Callable[..., Any]]

_TIMEOUT_S = 60.0
_ACCELERATOR = "NVIDIA_TESLA_V100"  # any GPU of the machine stands for it; the API takes 1, 2, 4 or 8
_MACHINE = "n1-standard-4"


def connect(server: Optional[str] = None, project: Optional[str] = None) -> "Client":
    """A server: the one given, that of TRAINYARD_SERVER, the one that runs on this machine, or http://127.0.0.1:8470.

    Unreachable if none answers there.
    """
    url, found = _settings.find_server(server)
    return Client(Transport(url, found), _settings.find_project(project))


class Client:
    """One project of one server. One thread at a time."""

    def __init__(self, transport: Transport, project: str) -> None:
        self.transport = transport
        self.project = project
        self._http = httplib2.Http(timeout=_TIMEOUT_S, proxy_info=None)
        # The library compares it with GOOGLE_CLOUD_UNIVERSE_DOMAIN, which `trainyard env` sets for the server's own names.
        self._http.credentials.universe_domain = os.environ.get("GOOGLE_CLOUD_UNIVERSE_DOMAIN") or "googleapis.com"
        self.ml = self._service("ml")  # google-api-python-client's own
        self.storage = self._service("storage")

    def __repr__(self) -> str:
        return "<trainyard.Client %s, project %s>" % (self.transport.url, self.project)

    def run(self, program: Program, *, args: Arguments = (), module: Optional[str] = None, name: Optional[str] = None, gpus: int = 0,
            workers: int = 0, env: Optional[Mapping[str, object]] = None, secrets: Sequence[str] = (), machine_type: str = _MACHINE,
            runtime: Optional[str] = None, job_dir: Optional[str] = None, requirements: Sequence[str] = (),
            tuning: Optional[Mapping[str, Any]] = None, labels: Optional[Mapping[str, str]] = None) -> Job:
        """Sends a program and starts it as a job; returns at once.

        program: a .py file (with the modules, the data and the requirements.txt beside it, as by `trainyard run`), a function, a
            folder with setup.py, or a package folder; a folder needs `module`, as "trainer.task"
        args: a list of words; a mapping becomes --NAME=VALUE. For a function: its arguments, as a list or by name
        name: the job's id; letters, digits and _. Left out, it is made of the program's name and the time
        gpus: for each replica. workers: replicas beside the master
        secrets: names of variables of this process whose values the program gets; they are in no description and no log. One
            that is not set is asked for where there is a terminal
        requirements: what pip installs besides, as "lightgbm==4.5.0"
        runtime: a runtime version, as "2.15". Left out, "pytorch-2.15" or "2.15" if the program imports PyTorch or TensorFlow, else
            the server's default
        job_dir: gs://BUCKET/PATH; the program gets --job-dir. Without, TRAINYARD_JOB_DIR names its folder; a function with
            a parameter job_dir gets that
        tuning: the API's HyperparameterSpec
        """
        hidden = _secret_variables(secrets)
        package = _pack(program, args, module, requirements)
        job_id = name or _new_name(program)
        bucket = _runs_bucket(self.project)
        folder = "gs://%s/%s" % (bucket, job_id)
        as_variable = job_dir is None and not package.wants_job_dir
        digest = hashlib.sha256(package.content).hexdigest()
        training: Dict[str, Any] = {
            "region": "us-central1", "pythonModule": package.module, "args": package.args,
            "packageUris": [self._upload(bucket, "packages/%s/%s" % (digest, package.file_name), package.content)],
            **_machines(gpus, workers, machine_type)}
        optional = {"runtimeVersion": runtime or package.runtime, "jobDir": job_dir or folder, "jobDirAsVariable": as_variable,
                    "hyperparameters": dict(tuning) if tuning else None, "env": _variables(env or {}) + hidden}
        training.update((key, value) for key, value in optional.items() if value)
        body: Dict[str, Any] = {"jobId": job_id, "trainingInput": training}
        if labels:
            body["labels"] = dict(labels)
        self.call(self.ml.projects().jobs().create(parent="projects/" + self.project, body=body))
        return Job(self, job_id)

    def rerun(self, former: Job, *, args: Optional[Arguments] = None, name: Optional[str] = None,
              env: Mapping[str, object], secrets: Sequence[str] = ()) -> Job:
        """As Job.rerun."""
        resource = former.describe()
        training: Dict[str, Any] = resource.get("trainingInput", {})
        given = _variables(env) + _secret_variables(secrets)
        missing = {one["name"] for one in training.get("env", []) if one.get("secret")} - {one["name"] for one in given}
        if missing:
            raise _errors.Error("name its secrets again: secrets=%r" % sorted(missing))
        job_id = name or _new_name(re.sub(r"_\d{8}_\d{6}(_\w+)?$", "", former.id))
        kept = [one for one in training.get("env", []) if one["name"] not in {new["name"] for new in given}]
        training["env"] = kept + given
        if not training["env"]:
            del training["env"]
        folder = str(training.get("jobDir", ""))
        if training.get("jobDirAsVariable") and folder.endswith("/" + former.id):
            training["jobDir"] = folder[:-len(former.id)] + job_id
        if args is not None:
            image = training.get("masterConfig", {})
            place, key = (image, "containerArgs") if "imageUri" in image else (training, "args")
            place[key] = _package.words(args)
        body = {key: value for key, value in (("jobId", job_id), ("trainingInput", training), ("labels", resource.get("labels"))) if value}
        self.call(self.ml.projects().jobs().create(parent="projects/" + self.project, body=body))
        return Job(self, job_id)

    def job(self, job_id: str) -> Job:
        """A job that is there. Error if it is not."""
        job = Job(self, job_id)
        job.describe()
        return job

    def jobs(self, limit: int = 100, filter: str = "") -> TableLike:  # the API's own name
        """The newest jobs as a table. `filter` as in jobs.list: "state=FAILED"."""
        rows: List[Dict[str, Any]] = []
        token = ""
        while len(rows) < limit:
            page = self.call(self.ml.projects().jobs().list(parent="projects/" + self.project, pageSize=min(limit - len(rows), 100),
                                                            filter=filter or None, pageToken=token or None))
            rows += [{"job": job["jobId"], "state": job["state"], "created": job.get("createTime"), "started": job.get("startTime"),
                      "ended": job.get("endTime")} for job in page.get("jobs", [])]
            token = page.get("nextPageToken", "")
            if not token:
                break
        return make_table(rows, ["job", "state", "created", "started", "ended"])

    def object_names(self, bucket: str, prefix: str) -> Iterator[str]:
        """Names of the objects in a bucket that begin so."""
        token = ""
        while True:
            page = self.call(self.storage.objects().list(bucket=bucket, prefix=prefix, pageToken=token or None))
            for item in page.get("items", []):
                yield str(item["name"])
            token = page.get("nextPageToken", "")
            if not token:
                return

    def call(self, request: Any) -> Any:
        """Sends a request of google-api-python-client; errors with the server's own words."""
        try:
            return request.execute(num_retries=2)
        except errors.HttpError as error:
            raise _errors.from_answer(error.content, int(error.resp.status)) from None
        except (OSError, http.client.HTTPException, httplib2.HttpLib2Error) as error:
            raise self.transport.unreachable(error) from None

    def _service(self, api: str) -> Any:
        document = self.transport.json("/discovery/v1/apis/%s/v1/rest" % api)
        return discovery.build_from_document(document, http=self._http)

    def _upload(self, bucket: str, name: str, content: bytes) -> str:
        media = MediaInMemoryUpload(content, mimetype="application/x-tar")
        self.call(self.storage.objects().insert(bucket=bucket, name=name, media_body=media))
        return "gs://%s/%s" % (bucket, name)


def _pack(program: Program, args: Arguments, module: Optional[str], requirements: Sequence[str]) -> _package.Package:
    if callable(program):
        return _package.pack_function(program, args, requirements)
    path = pathlib.Path(program)
    if path.is_dir():
        return _package.pack_folder(path, module, _package.words(args), requirements)
    if module:
        raise _errors.Error("module is for folders; %s is no folder" % path)
    return _package.pack_file(path, _package.words(args), requirements)


def _runs_bucket(project: str) -> str:
    """Where `trainyard run` keeps programs and what they write, too."""
    bucket = project + "-runs"
    return bucket if re.fullmatch(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]", bucket) else "trainyard-runs"


def _secret_variables(names: Sequence[str]) -> List[Dict[str, Any]]:
    """With the values of this process's variables, as `trainyard run --secret`: none is written into a program or a notebook."""
    if isinstance(names, str):
        raise _errors.Error("secrets is a list of names, as [\"HF_TOKEN\"], not one string")
    found = []
    for name in names:
        if "=" in name:
            raise _errors.Error("secrets has names alone; the value is that of your own variable of this name")
        value = os.environ.get(name)
        if value is None and sys.stdin is not None and sys.stdin.isatty():
            value = getpass.getpass("Value of the secret %s: " % name)
        if value is None:
            raise _errors.Error("the secret %s has no value: the variable is not set here, and there is no terminal to ask on. "
                                "Set it: os.environ[\"%s\"] = getpass.getpass()" % (name, name))
        found.append({"name": name, "value": value, "secret": True})
    return found


def _variables(given: Mapping[str, Any]) -> List[Dict[str, Any]]:
    return [{"name": name, "value": str(value)} for name, value in given.items()]


def _machines(gpus: int, workers: int, machine_type: str) -> Dict[str, Any]:
    if not gpus and not workers and machine_type == _MACHINE:
        return {"scaleTier": "BASIC"}
    config = {"acceleratorConfig": {"type": _ACCELERATOR, "count": str(gpus)}} if gpus else None
    machines: Dict[str, Any] = {"scaleTier": "CUSTOM", "masterType": machine_type}
    if config:
        machines["masterConfig"] = config
    if workers:
        machines.update(workerType=machine_type, workerCount=str(workers))
        if config:
            machines["workerConfig"] = config
    return machines


def _new_name(program: Program) -> str:
    stem = getattr(program, "__name__", None) or pathlib.Path(str(program)).resolve().stem
    stem = re.sub(r"\W", "_", stem)
    if not re.match(r"[A-Za-z]", stem):
        stem = "job_" + stem
    # Two jobs of one second have two names.
    return "%s_%s_%s" % (stem[:80], datetime.datetime.now().strftime("%Y%m%d_%H%M%S"), token_hex(2))
