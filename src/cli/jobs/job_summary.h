#pragma once

#include <string>

#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// The tables of `jobs describe --summarize`. Pure: any thread. Source: gcloud's format of the same command.
[[nodiscard]] std::string PrintJobSummary(const Json& job);

/// A table of what each replica used, from the answer of the server's /metrics of a job: mean and last CPU
/// use, peak and last memory use, accelerators and network if there are figures. Empty if there are none.
/// Pure: any thread.
[[nodiscard]] std::string PrintUsageSummary(const Json& answer);

/// Says why a job waits, from the server's JobStatus (control/v1/status.proto) as JSON; empty for a job that
/// does not wait. Pure.
///
///     Why it is waiting (position 2 in the queue):
///       Waiting for its turn: 1 job before it, job_1 is next.
///       It moves up when job_1 starts or is cancelled.
[[nodiscard]] std::string PrintWaiting(const Json& status);

/// Says how a job was submitted, from the submittedAs of its JobStatus or JobRow: "Vertex AI custom job,
/// us-central1". Empty: by ml v1, or the server does not say. Pure.
[[nodiscard]] std::string SubmittedAsText(const Json& shown);

/// The digests of the job's images when it was created; empty for a job without containers. Pure.
///
///     Images:
///       registry.local/trainer:v1 is registry.local/trainer@sha256:...
[[nodiscard]] std::string PrintImages(const Json& status);

/// The remarks about unusual replicas, one line for each; empty if there are none.
///
///     Remarks:
///       master-replica-0: No output for 34 minutes; it uses 100 % of its CPUs.
[[nodiscard]] std::string PrintRemarks(const Json& status);

}  // namespace trainyard::cli
