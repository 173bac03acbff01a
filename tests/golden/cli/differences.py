"""Where trainyard answers otherwise than gcloud, on purpose: what is expected instead, and why. None: not compared."""

ERROR = "ERROR: (trainyard.ai-platform.jobs.submit.training) "
FOLLOW_UP = ["Your job is still active. You may view the status of your job with the command", "",
             "  $ trainyard ai-platform jobs describe job_1", "", "or continue streaming the logs with the command", "",
             "  $ trainyard ai-platform jobs stream-logs job_1"]
SUBMITTED = ["Job [job_1] submitted successfully.", *FOLLOW_UP]
LOG = ["INFO\t2026-11-20 00:00:01 +0000\tservice\t\tValidating job requirements...",
       "ERROR\t2026-11-20 00:00:01 +0000\tmaster-replica-0\t\ttwo",
       "ERROR\t2026-11-20 00:00:01 +0000\tmaster-replica-0\t\tlines",
       "WARNING\t2026-11-20 00:00:01 +0000\tmaster-replica-0\t\t",
       "DEFAULT\t2026-11-20 00:00:02 +0000\tworker-replica-0\t3\tjson \u00e9\ttab",
       "DEFAULT\t2026-11-20 00:00:03 +0000\tunknown_task\t\tno labels"]
COMMANDS = ["Available groups for trainyard ai-platform jobs:", "", "      submit", "",
            "Available commands for trainyard ai-platform jobs:", "",
            "      cancel                  Cancel a running training job.",
            "      delete                  Delete a finished job with its log, metrics and trials (administrators only).",
            "      describe                Describe a training job.",
            "      download                Download the files from a job's output folder.",
            "      list                    List existing training jobs.",
            "      maintain                Restart a replica of a job, as a maintenance event of its machine would.",
            "      open                    Print the URL of a job.",
            "      preparation             Show all output of pip and uv from the installation of a job's packages.",
            "      rerun                   Submit a job again as a new job, optionally with other arguments after --.",
            "      shell                   Open a shell in a replica of a running training job.",
            "      stream-logs             Show logs from a running training job.",
            "      tensorboard             Start TensorBoard on a job's output folder.",
            "      trials                  Show the trials of a hyperparameter tuning job. Formats: table, csv, json, yaml.",
            "      update                  Update the labels of a training job.",
            "      wait                    Wait until a job has finished. The exit status is 0 if it succeeded.", "",
            "For detailed information on a command and its flags, run:", "  trainyard ai-platform jobs COMMAND --help"]


def refused(text, group=" jobs", meant=()):
    dotted = ("trainyard.ai-platform" + group.replace(" ", ".")) if group is not None else "trainyard"
    path = "trainyard ai-platform" + group if group is not None else "trainyard"
    return {"stderr": [f"ERROR: ({dotted}) Invalid choice: '{text}'.", "Maybe you meant:", *[f"  {path} {name}" for name in meant], "",
                       "To see all commands, run:", f"  {path.removesuffix(group or '')} help"]}


DIFFERENCES = {
    # Flags of alpha and beta are taken without those words, too.
    "submit_network_ga": {"exit": 0, "stdout": ["jobId: job_1", "state: QUEUED"], "stderr": SUBMITTED, "requests": None},
    # Commands to go on with repeat the project that a flag chose: without it they would ask for another one's job.
    "submit_project": {"stderr": [line + (" --project=other" if line.startswith("  $ ") else "") for line in SUBMITTED]},
    # gcloud has other flags beside the command's own; ours are compared with what was typed.
    "submit_prefix_ambiguous": {"stderr": [ERROR + "unrecognized arguments:", "  --master (did you mean '--server'?)", "  m", "  HINT"]},
    # After a near miss gcloud lists unrelated groups of its own.
    "submit_scale_tier_near": {"stderr": None},
    # gcloud shows a Python object's address.
    "submit_accelerator_word_count": {"stderr": None},
    # gcloud's list lacks the accelerators that only Vertex AI has.
    "submit_accelerator_bad_type": {"stderr": None},
    # A library of gcloud's warns about its own YAML version.
    "config_all": {"stderr": SUBMITTED},
    "config_and_flags": {"stderr": SUBMITTED},
    # Another YAML parser, other words for the same places.
    "config_bad_yaml": {"stderr": [ERROR + "Failed to parse YAML from [config.yaml]: line 2, column 2: end of sequence flow not found"]},
    "config_tab": {"stderr": [ERROR + "Failed to parse YAML from [config.yaml]: line 2, column 8: illegal map value"]},
    # gcloud crashes here.
    "config_float_version": {"exit": 0, "stdout": ["jobId: job_1", "state: QUEUED"], "stderr": SUBMITTED, "requests": None},
    "config_int_for_string": {"exit": 0, "stdout": ["jobId: job_1", "state: QUEUED"], "stderr": SUBMITTED, "requests": None},
    "config_scalar": {"stderr": [ERROR + "config.yaml:1: a Job belongs here, which is a mapping of field names to values"]},
    # gcloud names an account; there is none here, and the server's own words say more.
    "create_forbidden": {"stderr": [ERROR + "PERMISSION_DENIED: no"]},
    "list_error": {"stderr": ["ERROR: (trainyard.ai-platform.jobs.list) PERMISSION_DENIED: no"]},
    # gcloud prints its HTTP library's view of the answer.
    "submit_stream_logs_refused": {"stderr": ["Job [job_1] submitted successfully.", "Polling logs failed:", "INVALID_ARGUMENT: bad filter",
                                              "", *FOLLOW_UP]},
    # Ours has a flag more.
    "stream_logs_interval_zero": {"stderr": [
        "ERROR: (trainyard.ai-platform.jobs.stream-logs) argument --polling-interval: Value must be greater than or equal to 1; received: 0",
        "Usage: trainyard ai-platform jobs stream-logs JOB [optional flags]",
        "  optional flags may be  --allow-multiline-logs | --help | --last |",
        "                         --polling-interval | --task-name", "",
        "For detailed information on this command and its flags, run:",
        "  trainyard ai-platform jobs stream-logs --help"]},
    # After "not found" we list the jobs, to name the nearest.
    "cancel_not_found": {"requests": None},
    "describe_not_found": {"requests": None},
    "stream_logs_unknown_job": {"requests": None},
    # gcloud loses what it had not written yet.
    "stream_logs_interrupt": {"stdout": LOG, "requests": None},
    # How often it looked before the interrupt is up to time.
    "submit_stream_logs_interrupt": {"requests": None},
    # gcloud's formats that are not here are refused with what there is.
    "describe_bad_format": {"requests": [], "stderr": [
        "ERROR: (trainyard.ai-platform.jobs.describe) Format must be one of default, json, none, value(FIELD,...), yaml; received [nope]."]},
    # gcloud knows no address of a job and lists none.
    "list_uri": {"stderr": [""], "stdout": [f"http://HOST:PORT/v1/projects/example/jobs/{name}"
                                            for name in ("newest_job_with_a_long_name", "b", "a")]},
    # The commands are other ones, and so are the suggestions.
    "unknown_group": {"stderr": None},
    "unknown_command": refused("lst", meant=["list"]),
    "unknown_command_2": refused("trainig", group=" jobs submit", meant=["training"]),
    "no_command": {"stderr": ["ERROR: (trainyard.ai-platform.jobs) Command name argument expected.", "", *COMMANDS]},
    "no_subcommand": {"stderr": ["ERROR: (trainyard.ai-platform.jobs.submit) Command name argument expected.", "",
                                 "Available commands for trainyard ai-platform jobs submit:", "",
                                 "      training                Submit a training job.", "",
                                 "For detailed information on a command and its flags, run:",
                                 "  trainyard ai-platform jobs submit COMMAND --help"]},
}
