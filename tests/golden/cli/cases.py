"""What is recorded from gcloud and replayed with trainyard. argv begins behind the program's name."""

from typing import Any

SUBMIT = ["ai-platform", "jobs", "submit", "training"]
JOBS = "/v1/projects/example/jobs"
TRAINER = {"src/trainer/__init__.py": "", "src/trainer/task.py": "print('hello')\n"}
IMAGE = ["--master-image-uri", "registry/image:1", "--region", "us-central1"]
CREATED = {"POST " + JOBS: [{"body": {"jobId": "job_1", "state": "QUEUED", "createTime": "2026-11-20T00:00:00Z"}}]}
ENDED = {"jobId": "job_1", "state": "SUCCEEDED", "createTime": "2026-11-20T00:00:00Z",
         "startTime": "2026-11-20T00:00:10Z", "endTime": "2026-11-20T00:02:00.5Z"}
FAST = {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "1"}

CASES = {}


def case(name, argv, **more):
    assert name not in CASES, name
    CASES[name] = {"argv": argv, **more}


def submit(name, *argv, answers=CREATED, **more):
    case(name, SUBMIT + ["job_1", *argv], answers=answers, **more)


def error(code, status, message, details=None):
    body = {"error": {"code": code, "message": message, "status": status}}
    if details:
        body["error"]["details"] = details
    return [{"status": code, "body": body}]


def entry(stamp, number, text, severity="INFO", task="master-replica-0", **more):
    return {"timestamp": stamp, "insertId": f"{number:06}", "severity": severity, "textPayload": text,
            "resource": {"type": "ml_job", "labels": {"job_id": "job_1", "task_name": task}}, **more}


PACKAGE = ["--package-path", "src/trainer", "--module-name", "trainer.task", "--region", "us-central1"]

# The first page's own command, packaging and what it needs.
submit("submit_seed", *PACKAGE, "--job-dir", "gs://bucket/out/path", "--scale-tier", "basic", "--",
       "--user_first_arg=first_arg_value", "--user_second_arg=second_arg_value", files=TRAINER)
submit("submit_staging_bucket", *PACKAGE, "--staging-bucket", "gs://staging-bucket/", "--job-dir", "gs://bucket/out/",
       files=TRAINER)
submit("submit_job_dir_is_bucket", *PACKAGE, "--job-dir", "gs://bucket", files=TRAINER)
submit("submit_setup_py", *PACKAGE, "--job-dir", "gs://bucket/d", files={
    **TRAINER, "src/setup.py": "from setuptools import find_packages, setup\nsetup(name='census', version='1.2', "
    "packages=find_packages())\n"})
submit("submit_setup_py_fails", *PACKAGE, "--job-dir", "gs://bucket/d",
       files={**TRAINER, "src/setup.py": "import sys\nsys.exit('no, thanks')\n"})
submit("submit_subpackage", "--package-path=src/trainer/", "--module-name=trainer.task", "--region=us-central1",
       "--job-dir=gs://bucket/d", files={**TRAINER, "src/trainer/sub/__init__.py": "", "src/trainer/sub/a.py": "a = 1\n",
                                        "src/other/__init__.py": "", "src/trainer/data.txt": "not code\n"})
submit("submit_packages", *PACKAGE[2:], "--packages", "gs://bucket/a-1.tar.gz,local-1.0.tar.gz,wheel-1.0-py3-none-any.whl",
       "--staging-bucket", "gs://staging", files={"local-1.0.tar.gz": "local", "wheel-1.0-py3-none-any.whl": "wheel"})
submit("submit_packages_and_path", *PACKAGE, "--packages", "local-1.0.tar.gz,gs://bucket/a-1.tar.gz", "--job-dir",
       "gs://bucket/d", files={**TRAINER, "local-1.0.tar.gz": "local"})
submit("submit_packages_remote_only", *PACKAGE[2:], "--packages", "gs://bucket/a-1.tar.gz")
submit("submit_packages_big", *PACKAGE[2:], "--packages", "big-1.0.tar.gz", "--job-dir", "gs://bucket/d",
       files={"big-1.0.tar.gz": 6 << 20})
submit("submit_packages_duplicate", *PACKAGE[2:], "--packages", "a/p-1.tar.gz,b/p-1.tar.gz", "--job-dir", "gs://bucket/d",
       files={"a/p-1.tar.gz": "a", "b/p-1.tar.gz": "b"})
submit("submit_packages_missing", *PACKAGE[2:], "--packages", "nope-1.tar.gz", "--job-dir", "gs://bucket/d")
submit("submit_packages_bad_bucket", *PACKAGE[2:], "--packages", "gs://b/p-1.tar.gz", "--job-dir", "gs://bucket/d")
submit("submit_packages_bucket_only", *PACKAGE[2:], "--packages", "gs://bucket", "--job-dir", "gs://bucket/d")
submit("submit_no_init", *PACKAGE, "--job-dir", "gs://bucket/d", files={"src/trainer/task.py": ""})
submit("submit_no_package_dir", "--package-path", "nope/trainer", "--module-name", "trainer.task", "--region",
       "us-central1", "--job-dir", "gs://bucket/d")
submit("submit_no_staging", *PACKAGE, files=TRAINER)
submit("submit_no_packages", "--module-name", "trainer.task", "--region", "us-central1")
submit("submit_bucket_missing", *PACKAGE, "--job-dir", "gs://bucket/d", files={**TRAINER}, answers={
    "POST /upload/storage/v1/b/bucket/o": error(404, "NOT_FOUND", "The specified bucket does not exist.")})
submit("submit_upload_forbidden", *PACKAGE[2:], "--packages", "p-1.tar.gz", "--job-dir", "gs://bucket/d",
       files={"p-1.tar.gz": "p"},
       answers={"POST /upload/storage/v1/b/bucket/o": error(403, "PERMISSION_DENIED", "no permission")})
submit("submit_upload_mismatch", *PACKAGE[2:], "--packages", "p-1.tar.gz", "--job-dir", "gs://bucket/d",
       files={"p-1.tar.gz": "p"},
       answers={"POST /upload/storage/v1/b/bucket/o": [{"body": {"bucket": "bucket", "name": "n", "size": "7"}}]})

# Flags.
submit("submit_image", *IMAGE)
submit("submit_all_flags", *IMAGE, "--scale-tier", "custom", "--master-machine-type", "n1-standard-8",
       "--master-accelerator", "type=nvidia-tesla-t4,count=2", "--worker-machine-type", "n1-standard-4",
       "--worker-count", "9", "--worker-accelerator=count=1,type=tpu-v3-pod", "--worker-image-uri", "w:1",
       "--parameter-server-machine-type", "n1-highmem-8", "--parameter-server-count=3",
       "--parameter-server-accelerator", "count=4,type=nvidia-tesla-k80", "--parameter-server-image-uri", "ps:1",
       "--use-chief-in-tf-config", "true", "--python-version", "3.7", "--service-account", "me@example.com",
       "--enable-web-access", "--labels", "owner=alice,stage=prod", "--labels=more=1", "--kms-key", "k", "--kms-keyring",
       "r", "--kms-location", "l", "--job-dir", "gs://bucket/d", "--module-name", "m", "--", "a", "--b", "--", "c")
submit("submit_kms_full", *IMAGE, "--kms-key", "projects/p/locations/l/keyRings/r/cryptoKeys/k")
submit("submit_kms_partial", *IMAGE, "--kms-key", "k", "--kms-keyring", "r")
submit("submit_kms_no_key", *IMAGE, "--kms-keyring", "r")
submit("submit_kms_project", *IMAGE, "--kms-key", "k", "--kms-keyring", "r", "--kms-location", "l", "--kms-project", "other")
case("submit_beta", ["beta"] + SUBMIT + ["job_1", *IMAGE, "--network", "projects/1/global/networks/n", "--tpu-tf-version",
                                         "2.2"], answers=CREATED)
submit("submit_network_ga", *IMAGE, "--network", "n")
submit("submit_region_env", "--master-image-uri", "i", answers=CREATED, env={"CLOUDSDK_COMPUTE_REGION": "europe-west1"})
submit("submit_no_region", "--master-image-uri", "i")
submit("submit_empty_args", *IMAGE, "--")
submit("submit_scale_tier_upper", *IMAGE, "--scale-tier", "BASIC_GPU")
submit("submit_scale_tier_bad", *IMAGE, "--scale-tier", "huge")
submit("submit_scale_tier_near", *IMAGE, "--scale-tier", "standard")
submit("submit_custom_no_master", *IMAGE, "--scale-tier", "custom")
submit("submit_image_and_runtime", *IMAGE, "--runtime-version", "2.1")
submit("submit_async", *IMAGE, "--async")
submit("submit_async_and_stream", *IMAGE, "--async", "--stream-logs")
submit("submit_job_dir_bad", *IMAGE, "--job-dir", "/tmp/x")
submit("submit_job_dir_bad_bucket", *IMAGE, "--job-dir", "gs://B_/x")
submit("submit_job_dir_slash", *IMAGE, "--job-dir", "gs://bucket/")
submit("submit_staging_bad", *IMAGE, "--staging-bucket", "bucket")
submit("submit_staging_object", *PACKAGE, "--staging-bucket", "gs://bucket/dir", files=TRAINER)
submit("submit_accelerator_no_count", *IMAGE, "--master-accelerator", "type=nvidia-tesla-t4")
submit("submit_accelerator_bad_type", *IMAGE, "--master-accelerator", "type=fast,count=1")
submit("submit_accelerator_bad_count", *IMAGE, "--worker-accelerator", "type=nvidia-tesla-t4,count=0")
submit("submit_accelerator_word_count", *IMAGE, "--worker-accelerator", "type=nvidia-tesla-t4,count=x")
submit("submit_accelerator_bad_key", *IMAGE, "--worker-accelerator", "kind=nvidia-tesla-t4,count=1")
submit("submit_accelerator_no_equals", *IMAGE, "--worker-accelerator", "nvidia-tesla-t4")
submit("submit_worker_count_alone", *IMAGE, "--worker-count", "2")
submit("submit_worker_type_alone", *IMAGE, "--worker-machine-type", "n1-standard-4")
submit("submit_ps_count_alone", *IMAGE, "--parameter-server-count", "2")
submit("submit_worker_count_zero", *IMAGE, "--worker-count", "0", "--worker-machine-type", "m")
submit("submit_worker_count_word", *IMAGE, "--worker-count", "two", "--worker-machine-type", "m")
submit("submit_chief_bad", *IMAGE, "--use-chief-in-tf-config", "maybe")
submit("submit_chief_yes", *IMAGE, "--use-chief-in-tf-config", "Yes")
submit("submit_no_web_access", *IMAGE, "--no-enable-web-access")
submit("submit_labels_bad_key", *IMAGE, "--labels", "Owner=x")
submit("submit_labels_bad_value", *IMAGE, "--labels", "owner=X")
submit("submit_labels_no_equals", *IMAGE, "--labels", "owner")
submit("submit_labels_twice", *IMAGE, "--labels", "a=1,a=2")
submit("submit_labels_delimiter", *IMAGE, "--labels", "^:^a=1:b=2")
submit("submit_service_account_bad", *IMAGE, "--service-account", "me")
submit("submit_unknown_flag", *IMAGE, "--modul-name", "m")
submit("submit_two_unknown", *IMAGE, "--frobnicate", "extra")
submit("submit_flag_without_value", *IMAGE, "--module-name")
submit("submit_prefix", *IMAGE, "--modul", "m", "--py", "3.7")
submit("submit_prefix_ambiguous", *IMAGE, "--master", "m")
submit("submit_project", *IMAGE, "--project", "other", answers={"POST /v1/projects/other/jobs": CREATED["POST " + JOBS]})
submit("submit_format_json", *IMAGE, "--format", "json")
submit("submit_format_value", *IMAGE, "--format=value(jobId)")
submit("submit_repeated_flag", *IMAGE, "--module-name", "a", "--module-name", "b")
submit("submit_quiet", *IMAGE, "--quiet")
submit("submit_verbosity", *IMAGE, "--verbosity=error", "--async")
case("submit_no_job", SUBMIT + IMAGE)
case("submit_two_jobs", SUBMIT + ["job_1", "job_2"] + IMAGE)
case("submit_flag_before_job", SUBMIT + [*IMAGE, "job_1"], answers=CREATED)

# The configuration file.
CONFIG = """\
jobId: other
labels: {type: prod, owner: alice}
bogusField: 1
trainingInput:
  scaleTier: CUSTOM
  masterType: complex_model_m
  workerType: complex_model_m
  workerCount: 9
  parameterServerCount: "3"
  parameterServerType: large_model
  region: us-east1
  pythonModule: from.config
  args: [--one, "2", "yes"]
  packageUris: [gs://my/package/path]
  enableWebAccess: true
  masterConfig: {imageUri: "i:1", diskConfig: {bootDiskType: pd-ssd, bootDiskSizeGb: 100}, acceleratorConfig: {count: 2, type: NVIDIA_TESLA_T4}}
  scheduling: {maxWaitTime: 3600s, maxRunningTime: 7200s, priority: 3}
  useChiefInTfConfig: yes
  unknown: {a: [1, 2.5, null, on, 012, 1e3]}
  hyperparameters:
    goal: NOPE
    maxTrials: 30
    hyperparameterMetricTag: accuracy
    params:
    - parameterName: hidden1
      type: INTEGER
      minValue: 40
      maxValue: 400
      scaleType: UNIT_LINEAR_SCALE
    - parameterName: rnn
      type: CATEGORICAL
      categoricalValues: [a, b]
    - parameterName: d
      type: DISCRETE
      discreteValues: [1, 2.5]
"""
submit("config_all", "--config", "config.yaml", "--region", "us-central1", files={"config.yaml": CONFIG})
submit("config_and_flags", "--config", "config.yaml", *IMAGE, "--master-machine-type", "n1-standard-8", "--worker-count",
       "1", "--worker-machine-type", "n1-standard-4", "--labels", "a=b", "--scale-tier", "custom", "--module-name", "flag",
       "--worker-image-uri", "w:2", "--", "user", files={"config.yaml": CONFIG})
submit("config_json", *IMAGE, "--config", "config.json",
       files={"config.json": '{"trainingInput": {"scaleTier": "BASIC", "pythonVersion": "3.7"}, "labels": {"a": "b"}}'})
submit("config_missing", *IMAGE, "--config", "nope.yaml")
submit("config_bad_yaml", *IMAGE, "--config", "config.yaml", files={"config.yaml": "a: [1\nb: 2\n"})
submit("config_tab", *IMAGE, "--config", "config.yaml", files={"config.yaml": "trainingInput:\n\tregion: x\n"})
submit("config_empty", *IMAGE, "--config", "config.yaml", "--scale-tier", "basic", files={"config.yaml": ""})
submit("config_float_version", *IMAGE, "--config", "config.yaml",
       files={"config.yaml": "trainingInput:\n  pythonVersion: 3.7\n"})
submit("config_scalar", *IMAGE, "--config", "config.yaml", "--scale-tier", "basic", files={"config.yaml": "hello\n"})
submit("config_packages_lost", "--region", "us-central1", "--config", "config.yaml",
       files={"config.yaml": "trainingInput:\n  packageUris: [gs://my/p.tar.gz]\n"})
submit("config_int_for_string", *IMAGE, "--config", "config.yaml", "--scale-tier", "basic",
       files={"config.yaml": "trainingInput:\n  pythonModule: 7\n"})
submit("config_string_for_list", *IMAGE, "--config", "config.yaml", "--scale-tier", "basic",
       files={"config.yaml": "trainingInput:\n  args: --one\n"})
submit("config_lower_tier", *IMAGE, "--config", "config.yaml",
       files={"config.yaml": "trainingInput:\n  scaleTier: custom\n"})

# The server's answers to create.
VIOLATIONS = [{"@type": "type.googleapis.com/google.rpc.BadRequest",
               "fieldViolations": [{"field": "job.trainingInput", "description": "a b: 'c'\nnext line"}]}]
submit("create_invalid", *IMAGE, answers={"POST " + JOBS: error(
    400, "INVALID_ARGUMENT", "Field: job.job_id Error: nope", VIOLATIONS)})
submit("create_conflict", *IMAGE, answers={"POST " + JOBS: error(
    409, "ALREADY_EXISTS", "Field: job.job_id Error: A job with this id already exists.", VIOLATIONS)})
submit("create_precondition", *IMAGE, answers={"POST " + JOBS: error(400, "FAILED_PRECONDITION", "no quota")})
submit("create_forbidden", *IMAGE, answers={"POST " + JOBS: error(403, "PERMISSION_DENIED", "no")})
submit("create_unauthenticated", *IMAGE, answers={"POST " + JOBS: error(401, "UNAUTHENTICATED", "no")})
submit("create_not_json", *IMAGE, answers={"POST " + JOBS: [{"status": 400, "body": "plain text"}]})
submit("create_retry_after", *IMAGE, answers={"POST " + JOBS: [
    {"status": 503, "headers": {"Retry-After": "1"}, "body": {"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}},
    *CREATED["POST " + JOBS]]})
submit("create_started", *IMAGE, answers={"POST " + JOBS: [{"body": ENDED}]}, env={"TZ": "Europe/Berlin"})

# Streams.
LOGS = {"entries": [
    entry("2026-11-20T00:00:01.000000000Z", 1, "Validating job requirements...", task="service"),
    entry("2026-11-20T00:00:01.500000000Z", 2, "two\nlines\n", severity="ERROR"),
    entry("2026-11-20T00:00:01.500000000Z", 3, "", severity="WARNING"),
    {"timestamp": "2026-11-20T00:00:02.000000000Z", "insertId": "000004",
     "jsonPayload": {"message": "json \u00e9\ttab", "levelname": "INFO", "lineno": 7},
     "labels": {"ml.googleapis.com/task_name": "worker-replica-0", "ml.googleapis.com/trial_id": "3"}},
    {"timestamp": "2026-11-20T00:00:02.000000000Z", "insertId": "000003", "textPayload": "seen before"},
    {"timestamp": "2026-11-20T00:00:03.000000000Z", "insertId": "000001", "textPayload": "no labels"}]}
STREAM = {**CREATED, "POST /v2/entries:list": [{"body": LOGS}, {"body": {}}], "GET " + JOBS + "/job_1": [{"body": ENDED}]}
submit("submit_stream_logs", *IMAGE, "--stream-logs", answers=STREAM, env=FAST)
submit("submit_stream_logs_failed", *IMAGE, "--stream-logs", env=FAST,
       answers={**STREAM, "GET " + JOBS + "/job_1": [{"body": {**ENDED, "state": "FAILED", "errorMessage": "why"}}]})
submit("submit_stream_logs_refused", *IMAGE, "--stream-logs", env=FAST, answers={
    **STREAM, "POST /v2/entries:list": error(400, "INVALID_ARGUMENT", "bad filter")})
submit("submit_stream_logs_interrupt", *IMAGE, "--stream-logs", env=FAST, interrupt_after=3,
       answers={**STREAM, "GET " + JOBS + "/job_1": [{"body": {"jobId": "job_1", "state": "RUNNING",
                                                               "startTime": "2026-11-20T00:00:10Z"}}]})
case("stream_logs", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval", "1"], answers=STREAM)
case("stream_logs_multiline", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval=1",
                               "--allow-multiline-logs", "--task-name", "service"], answers=STREAM,
     env={"TZ": "America/New_York"})
case("stream_logs_pages", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval=1"], answers={
    **STREAM, "POST /v2/entries:list": [{"body": {"entries": LOGS["entries"][:2], "nextPageToken": "t"}},
                                        {"body": {"entries": LOGS["entries"][2:]}}, {"body": {}}]})
case("stream_logs_unknown_job", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval", "1"], answers={
    "POST /v2/entries:list": [{"body": {}}], "GET " + JOBS + "/job_1": error(
        404, "NOT_FOUND", "Field: name Error: The specified job was not found.")})
case("stream_logs_interval_zero", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval", "0"])
case("stream_logs_refused", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval", "1"], answers={
    "POST /v2/entries:list": error(403, "PERMISSION_DENIED", "no")})
case("stream_logs_interrupt", ["ai-platform", "jobs", "stream-logs", "job_1", "--polling-interval", "1"],
     interrupt_after=2, answers={**STREAM, "GET " + JOBS + "/job_1": [{"body": {"jobId": "job_1", "state": "RUNNING"}}]})

# Describe.
JOB: dict[str, Any] = {"jobId": "job_1", "createTime": "2026-11-20T00:00:00Z", "state": "SUCCEEDED", "startTime": "2026-11-20T00:00:10Z",
       "endTime": "2026-11-20T00:02:00Z", "etag": "AAAAAAAAAAE=", "labels": {"owner": "alice", "a": "1"},
       "errorMessage": "line one\nline two: it's \"quoted\"\n",
       "trainingInput": {"args": ["--a=1", "-b", "", "007", "1.5", "yes", "true", "null", "a: b", "x #y", "'q'", "*z", "{",
                                  "very long " * 20, "trailing ", " leading", "\u00e9\u00e8", "tab\there", "12:30:45",
                                  "2026-11-20", "~", "- x", "@at", "%p", "!t", "&a", "|", ">", "?", "? x", ":", "a:b", "[",
                                  "`", "=", "<<", "0x1F", "0o7", "1e3", "1_000", "+1", ".5", ".inf", "\u0001", "a\\b",
                                  "a'b", '"', "x,y", "#c", "end:", "\nnl", "n\n\nm"],
                         "region": "us-central1", "packageUris": ["gs://bucket/p.tar.gz"], "scaleTier": "CUSTOM",
                         "pythonModule": "trainer.task", "masterType": "n1-standard-4", "workerType": "n1-standard-4",
                         "workerCount": "2", "jobDir": "gs://bucket/d", "runtimeVersion": "2.1", "enableWebAccess": False,
                         "masterConfig": {"diskConfig": {"bootDiskSizeGb": 100}},
                         "hyperparameters": None,
                         "scheduling": {"priority": 3}},
       "trainingOutput": {"consumedMLUnits": 0.25}}
JOB["trainingInput"].pop("hyperparameters")
DESCRIBE = ["ai-platform", "jobs", "describe", "job_1"]
GET = "GET " + JOBS + "/job_1"
case("describe", DESCRIBE, answers={GET: [{"body": JOB}]})
case("describe_small", DESCRIBE, answers={GET: [{"body": {"jobId": "job_1", "state": "QUEUED", "trainingOutput": {}}}]})
case("describe_json", DESCRIBE + ["--format=json"], answers={GET: [{"body": JOB}]})
case("describe_value", DESCRIBE + ["--format", "value(jobId,trainingInput.region,trainingInput.args[0],nope,labels,trainingInput.packageUris)"],
     answers={GET: [{"body": JOB}]})
case("describe_value_one", DESCRIBE + ["--format=value(state)"], answers={GET: [{"body": JOB}]})
case("describe_summarize", DESCRIBE + ["--summarize"], answers={GET: [{"body": JOB}]})
case("describe_summarize_small", DESCRIBE + ["--summarize", "--format=json"],
     answers={GET: [{"body": {"jobId": "job_1", "state": "QUEUED", "trainingInput": {"region": "r"}, "trainingOutput": {}}}]})
TRIALS = {"completedTrialCount": "2", "consumedMLUnits": 1.5, "isHyperparameterTuningJob": True, "trials": [
    {"trialId": "2", "finalMetric": {"trainingStep": "10", "objectiveValue": 0.123456789}, "hyperparameters": {"lr": "0.1", "b": "x"}},
    {"trialId": "10", "finalMetric": {"trainingStep": "10", "objectiveValue": 0.5}, "hyperparameters": {"lr": "0.3", "b": "x"}},
    {"trialId": "1", "hyperparameters": {"lr": "0.2", "b": "longer"}}]}
case("describe_summarize_trials", DESCRIBE + ["--summarize"], answers={GET: [{"body": {
    **JOB, "trainingInput": {**JOB["trainingInput"], "hyperparameters": {"goal": "MAXIMIZE"}}, "trainingOutput": TRIALS}}]})
case("describe_trials", DESCRIBE, answers={GET: [{"body": {"jobId": "job_1", "trainingOutput": TRIALS}}]})
case("describe_not_found", DESCRIBE, answers={GET: error(404, "NOT_FOUND", "Field: name Error: The specified job was not found.")})
case("describe_full_name", ["ai-platform", "jobs", "describe", "projects/other/jobs/x"],
     answers={"GET /v1/projects/other/jobs/x": [{"body": {"jobId": "x"}}]})
case("describe_odd_name", ["ai-platform", "jobs", "describe", "a b"], answers={"GET " + JOBS + "/a%20b": [{"body": {"jobId": "a b"}}]})
case("describe_no_job", ["ai-platform", "jobs", "describe"])
case("describe_extra", DESCRIBE + ["more"])
case("describe_bad_format", DESCRIBE + ["--format=nope"], answers={GET: [{"body": JOB}]})

# List.
LIST = ["ai-platform", "jobs", "list"]
FEW = {"jobs": [{"jobId": "newest_job_with_a_long_name", "state": "RUNNING", "createTime": "2026-11-20T10:00:00Z"},
                {"jobId": "b", "state": "QUEUED", "createTime": "2026-11-19T10:00:00.123Z", "labels": {"a": "b"}},
                {"jobId": "a", "state": "SUCCEEDED", "createTime": "2026-11-18T10:00:00Z"}]}
FOUND = {"GET " + JOBS: [{"body": FEW}]}
PAGES = {"GET " + JOBS: [{"body": {**FEW, "nextPageToken": "p2"}}, {"body": {"jobs": [{"jobId": "old", "state": "FAILED",
                                                                     "createTime": "2026-11-01T00:00:00Z"}]}}]}
case("list", LIST, answers=FOUND)
case("list_zone", LIST, answers=FOUND, env={"TZ": "Asia/Tokyo"})
case("list_empty", LIST, answers={"GET " + JOBS: [{"body": {}}]})
case("list_pages", LIST, answers=PAGES)
case("list_limit", LIST + ["--limit=2"], answers=PAGES)
case("list_limit_zero", LIST + ["--limit=0"], answers=PAGES)
case("list_page_size", LIST + ["--page-size=2"], answers=PAGES)
case("list_uri", LIST + ["--uri"], answers=FOUND)
case("list_json", LIST + ["--format=json"], answers=FOUND)
case("list_json_empty", LIST + ["--format=json"], answers={"GET " + JOBS: [{"body": {}}]})
case("list_yaml", LIST + ["--format=yaml"], answers=FOUND)
case("list_value", LIST + ["--format=value(jobId,state)"], answers=FOUND)
case("list_value_spaces", LIST + ["--format", "value( jobId, labels.a )"], answers=FOUND)
case("list_filter_state", LIST + ["--filter=state=RUNNING"], answers=FOUND)
case("list_filter_and", LIST + ["--filter=state:(RUNNING QUEUED) AND jobId~^b"], answers=FOUND)
case("list_filter_not", LIST + ["--filter=NOT state=RUNNING", "--limit=1"], answers=FOUND)
case("list_sort_by", LIST + ["--sort-by=jobId"], answers=FOUND)
case("list_sort_by_reverse", LIST + ["--sort-by=~createTime"], answers=FOUND)
case("list_error", LIST, answers={"GET " + JOBS: error(403, "PERMISSION_DENIED", "no")})
case("list_extra", LIST + ["more"], answers=FOUND)

# Cancel, update.
CANCEL = "POST " + JOBS + "/job_1:cancel"
case("cancel", ["ai-platform", "jobs", "cancel", "job_1"], answers={CANCEL: [{"body": {}}]})
case("cancel_not_found", ["ai-platform", "jobs", "cancel", "job_1"], answers={CANCEL: error(404, "NOT_FOUND", "no such job")})
UPDATE = ["ai-platform", "jobs", "update", "job_1"]
PATCH = {GET: [{"body": JOB}], "PATCH " + JOBS + "/job_1": [{"body": JOB}]}
case("update_labels", UPDATE + ["--update-labels", "new=1,owner=bob"], answers=PATCH)
case("update_remove", UPDATE + ["--remove-labels=a,none"], answers=PATCH)
case("update_clear", UPDATE + ["--clear-labels"], answers=PATCH)
case("update_clear_and_set", UPDATE + ["--clear-labels", "--update-labels=x=y"], answers=PATCH)
case("update_nothing", UPDATE, answers=PATCH)
case("update_same", UPDATE + ["--update-labels", "owner=alice"], answers=PATCH)
case("update_clear_and_remove", UPDATE + ["--clear-labels", "--remove-labels=a"], answers=PATCH)
case("update_bad_label", UPDATE + ["--update-labels", "A=b"], answers=PATCH)
case("update_format", UPDATE + ["--update-labels", "new=1", "--format=value(jobId)"], answers=PATCH)
case("update_conflict", UPDATE + ["--update-labels", "new=1"],
     answers={**PATCH, "PATCH " + JOBS + "/job_1": error(409, "ABORTED", "changed meanwhile")})

# Words that are no command.
case("unknown_group", ["ai-platfrom", "jobs", "list"])
case("unknown_command", ["ai-platform", "jobs", "lst"])
case("unknown_command_2", ["ai-platform", "jobs", "submit", "trainig", "x"])
case("no_command", ["ai-platform", "jobs"])
case("no_subcommand", ["ai-platform", "jobs", "submit"])
