"""Command lines whose texts are trainyard's own, where gcloud has none or other ones: help, errors, terminals.

A case with `columns` runs in a terminal of that width. What it prints is in texts/NAME.txt."""

from typing import Any

JOBS = "/v1/projects/example/jobs"
NOT_FOUND = [{"status": 404, "body": {"error": {"code": 404, "status": "NOT_FOUND",
                                                "message": "Field: name Error: The specified job was not found."}}}]


LIST = [{"jobId": "census_2026_11_20_wide_and_deep_with_embeddings", "state": "RUNNING", "createTime": "2026-11-20T03:00:00Z"},
        {"jobId": "census_1", "state": "SUCCEEDED", "createTime": "2026-11-20T02:00:00Z"},
        {"jobId": "mnist", "state": "FAILED", "createTime": "2026-11-20T01:00:00Z"}]
LISTED = {"GET " + JOBS: [{"body": {"jobs": LIST}}]}
EMPTY = {"GET " + JOBS: [{"body": {}}]}
TUNED = {"jobId": "tune", "state": "RUNNING", "trainingInput": {"hyperparameters": {"goal": "MAXIMIZE"}},
         "trainingOutput": {"trials": [{"trialId": "3", "finalMetric": {"objectiveValue": 0.9215686274509803}}, {"trialId": "1"}]}}


def trial(number, state, rate, units, metric=None, reason=None):
    output = {"trialId": str(number), "state": state, "hyperparameters": {"learning_rate": rate, "units": units}}
    if metric is not None:
        output["finalMetric"] = {"trainingStep": "1000", "objectiveValue": metric}
    return {"output": output, **({"reason": reason} if reason else {})}


TRIALS = {"GET " + JOBS + "/tune": [{"body": TUNED}], "GET /trainyard" + JOBS + "/tune": [{"body": {"trials": [
    trial(1, "SUCCEEDED", "0.010000000149011612", "64", 0.8812345678),
    trial(2, "FAILED", "0.1", "8", reason="The replica master-replica-0 exited with a non-zero status of 1."),
    trial(3, "SUCCEEDED", "0.0031622776601683795", "128", 0.9215686274509803)]}}]}
SUBMIT = ["jobs", "submit", "training", "job_1", "--region=r", "--master-image-uri=i"]
LONG = "x" * 64
PLAIN = {"TERM": "xterm", "NO_COLOR": "1"}
COLOUR = {"TERM": "xterm"}

CASES: dict[str, dict[str, Any]] = {}


def case(name, *argv, **more):
    assert name not in CASES, name
    CASES[name] = {"argv": list(argv), **more}


# Help.
case("help", "help")
case("help_option", "--help")
case("help_group", "help", "jobs")
case("help_jobs_list", "jobs", "list", "--help")
case("help_cancel_as_gcloud", "ai-platform", "jobs", "cancel", "--help")
case("help_completion", "completion", "--help")
case("help_unknown", "help", "jobs", "lst")
case("help_config_check", "config", "check", "--help")
case("help_config_show", "config", "show", "--help")
case("serve_help", "serve", "--help", env={"TRAINYARD_DATA": "/srv/trainyard"})

# Runtime versions, as a server sees them.
RUNTIMES = {"GET /trainyard/v1/runtimes": [{"body": {"runtimes": [
    {"version": "1.15", "pythons": ["3.7"], "state": "needs Python 3.7, which this machine does not have"},
    {"version": "2.15", "isDefault": True, "pythons": ["3.11"], "state": "built", "python": "3.11", "folder": "/d/2.15-x",
     "sizeBytes": "2147483648", "packageLayers": 2, "lastUse": "2026-11-20T03:00:00Z"},
    {"version": "2.21", "pythons": ["3.11", "3.12"], "state": "can be built"}]}}]}
case("runtimes", "runtimes", "list", answers=RUNTIMES)
case("runtimes_json", "runtimes", "list", "--format=json", answers=RUNTIMES)
case("runtimes_of_a_server_that_is_away", "runtimes", "list", "--server=http://127.0.0.1:1")

# Who uses what.
USAGE = {"GET /trainyard/v1/usage": [{"body": {
    "jobs": [{"project": "research", "jobId": "census_1", "creator": "user:ann@example.com", "state": "RUNNING", "since": "2026-11-20T03:00:00Z",
              "replicas": 2, "holds": True, "cpus": 8, "memoryBytes": "32212254720", "machineShare": 0.5, "accelerators": "1 NVIDIA_TESLA_T4",
              "devices": [{"type": "nvidia-tesla-t4", "index": "0", "project": "research", "jobId": "census_1"}]},
             {"project": "p", "jobId": "mnist_1", "state": "QUEUED", "since": "2026-11-20T03:10:00Z", "replicas": 1, "cpus": 4,
              "memoryBytes": "16106127360", "accelerators": "1 NVIDIA_TESLA_T4", "position": "1",
              "reason": "Waiting for 1 NVIDIA_TESLA_T4: 1 of 1 are in use by census_1.", "unblock": "It starts when census_1 has ended."}],
    "machine": {"cpus": 16, "cpusHeld": 8, "memoryBytes": "68719476736", "memoryBytesHeld": "32212254720",
                "devices": [{"type": "nvidia-tesla-t4", "index": "0", "project": "research", "jobId": "census_1"}]},
    "projects": [{"project": "p", "queued": 1, "weight": 1},
                 {"project": "research", "running": 1, "share": 1, "weight": 2, "use": {"cpuSeconds": 7200, "acceleratorSeconds": 900},
                  "quotas": [{"subject": "project:*", "resource": "gpus", "limit": "4"}]}]}}]}
case("top", "top", answers=USAGE)
case("top_json", "top", "--format=json", answers=USAGE)
case("top_of_an_idle_server", "top", answers={"GET /trainyard/v1/usage": [{"body": {"machine": {"cpus": 16}}}]})
case("serve_quota", "serve", "--quota", "projct:p:gpus=4")
case("serve_project_weight", "serve", "--project-weight", "research=much")

# The command line is wrong: exit status 2.
case("no_words", env=COLOUR)
case("near_command", "job", "list")
case("command_of_a_group", "maintain", "census_1")
case("command_of_several_groups", "remove")
case("far_command", "xyzzy")
case("near_flag", "jobs", "list", "--limt=5")
case("bad_verbosity", "jobs", "list", "--verbosity=warn")
case("bad_shell", "completion", "basj")
case("no_such_shell", "completion", "tcsh")
case("remove_no_images", "images", "remove")
case("copy_one_name", "storage", "cp", "a")
case("copy_local", "storage", "cp", "a", "b", files={"a": "a"})
case("not_a_storage_url", "storage", "ls", "bucket")
case("usage_on_a_terminal", *SUBMIT, "--worker-count=x", columns=80, env=PLAIN)
case("error_in_colour", "jobs", "describe", columns=80, env=COLOUR)
case("labels_key", *SUBMIT, "--labels=A=b", columns=400, env=PLAIN)
case("labels_word", *SUBMIT, "--labels=x", columns=400, env=PLAIN)
case("submit_config_list", *SUBMIT, "--config=c.yaml", files={"c.yaml": "labels: {a: b}\ntrainingInput: []\n"})
case("labels_space", *SUBMIT, "--labels", "a=b,", "c=d", columns=400, env=PLAIN)
case("labels_long_key", *SUBMIT, f"--labels={LONG}=b", columns=400, env=PLAIN)
case("labels_long_value", *SUBMIT, f"--labels=a={LONG}", columns=400, env=PLAIN)
case("labels_update_value", "jobs", "update", "job_1", "--update-labels=a=B", columns=400, env=PLAIN)
case("labels_update_long", "jobs", "update", "job_1", f"--update-labels=a={LONG}", columns=400, env=PLAIN)
case("serve_flag", "serve", "--networ", "host")
case("serve_word", "serve", "now")
case("serve_choice", "serve", "--network", "isolate")
case("serve_far_choice", "serve", "--google-front", "7")
case("serve_container_choice", "serve", "--container-engine", "docker")
case("serve_range", "serve", "--stop-grace", "9999")
case("serve_number", "serve", "--stop-grace", "x")
case("serve_no_value", "serve", "--data")
case("serve_listen", "serve", "--listen", "here")
case("serve_config", "serve", "--config", "c.yaml", files={"c.yaml": "listn: 1\nstop-grace: x\n"})
case("serve_empty_config", "serve", "--config", "")
case("serve_no_config", "serve", "--config", "c.yaml")
case("near_config_command", "config", "chek")

# The configuration file.
CONFIG = {"c.yaml": "listen: 127.0.0.1:0\nbucket-dir:\n  models: /srv/models\nverbose: yes\n"}
case("config_check", "config", "check", "c.yaml", files=CONFIG)
case("config_check_mistakes", "config", "check", "c.yaml", files={"c.yaml": "listn: 1\nnetwork: isolate\nverbose: 1\nverbose: no\n"})
case("config_check_flag", "config", "check", "--networ", "host")
case("config_show", "config", "show", "c.yaml", "--capacity=strict", files=CONFIG)
case("config_show_flag", "config", "show", "c.yaml", "--capacity=strikt", files=CONFIG)

# Names that do not exist: exit status 1.
case("near_job", "jobs", "describe", "cencus_1", answers={"GET " + JOBS + "/cencus_1": NOT_FOUND, **LISTED})
case("far_job", "jobs", "cancel", "zzz", answers={"POST " + JOBS + "/zzz:cancel": NOT_FOUND, **LISTED})
case("no_jobs", "jobs", "describe", "census_1", answers={"GET " + JOBS + "/census_1": NOT_FOUND, **EMPTY})
case("near_job_stream", "jobs", "stream-logs", "mnits", answers={"GET " + JOBS + "/mnits": NOT_FOUND, **LISTED})
case("near_runtime", "runtimes", "describe", "2.111")
case("near_algorithm", "algorithms", "describe", "boosted_tree")
case("near_bucket", "storage", "ls", "gs://modls/a", answers={
    "GET /storage/v1/b/modls/o": [{"status": 404, "body": {"error": {"code": 404, "message":
                                                                     "The specified bucket does not exist: modls"}}}],
    "GET /storage/v1/b": [{"body": {"items": [{"name": "models"}, {"name": "data"}]}}]})

# Tables.
case("list_in_colour", "jobs", "list", answers=LISTED, columns=100, env=COLOUR)
case("list_narrow", "jobs", "list", answers=LISTED, columns=60, env=PLAIN)
case("list_very_narrow", "jobs", "list", answers=LISTED, columns=20, env=PLAIN)
case("list_dumb", "jobs", "list", answers=LISTED, columns=100, env={"TERM": "dumb"})
case("list_piped", "jobs", "list", answers=LISTED, env={"COLUMNS": "40", **COLOUR})
case("trials", "jobs", "trials", "tune", answers=TRIALS)
case("trials_narrow", "jobs", "trials", "tune", answers=TRIALS, columns=80, env=COLOUR)
case("trials_csv", "jobs", "trials", "tune", "--format=csv", answers=TRIALS)
case("algorithms", "algorithms", "list")
case("describe_with_trials", "jobs", "describe", "tune", answers=TRIALS, columns=80, env=PLAIN)


# Logs.
ENTRIES = {"GET " + JOBS + "/j": [{"body": {"jobId": "j", "state": "FAILED"}}],
           "POST /v2/entries:list": [{"body": {"entries": [
               {"timestamp": "2026-11-20T00:00:01Z", "insertId": "1", "severity": "INFO", "textPayload": "step 1",
                "resource": {"type": "ml_job", "labels": {"job_id": "j", "task_name": "master-replica-0"}}},
               {"timestamp": "2026-11-20T00:00:02Z", "insertId": "2", "severity": "ERROR", "textPayload": "no \x1b[31mmemory",
                "resource": {"type": "ml_job", "labels": {"job_id": "j", "task_name": "master-replica-0"}}}]}}]}
case("log_in_colour", "jobs", "stream-logs", "j", "--last=5", answers=ENTRIES, columns=80, env=COLOUR)
case("log_without_colour", "jobs", "stream-logs", "j", "--last=5", answers=ENTRIES, columns=80, env=PLAIN)
