#pragma once

#include <span>

#include "cli/command_session.h"

/// The commands `jobs ...` that talk to the server; `jobs stream-logs` is in stream_logs.h. Each is a few
/// requests and a printed answer. Errors: the server's refusals, in gcloud's words. One thread.
namespace trainyard::cli {

[[nodiscard]] ExitStatus DescribeJob(const CommandSession& session);
[[nodiscard]] ExitStatus ListJobs(const CommandSession& session);
[[nodiscard]] ExitStatus ListTrials(const CommandSession& session);
[[nodiscard]] ExitStatus CancelJob(const CommandSession& session);
[[nodiscard]] ExitStatus UpdateJob(const CommandSession& session);

/// `jobs delete JOB`: removes a job that has ended; on a terminal it asks first. What its program wrote to
/// buckets stays.
[[nodiscard]] ExitStatus DeleteJob(const CommandSession& session);

/// `jobs maintain JOB REPLICA`: has one replica stopped and started again, as the maintenance of its machine
/// would.
[[nodiscard]] ExitStatus MaintainJob(const CommandSession& session);

/// `jobs preparation JOB`: prints what the tools printed that installed the job's packages, on the server's
/// machine.
[[nodiscard]] ExitStatus ShowPreparation(const CommandSession& session);

/// `jobs shell JOB [REPLICA]`: connects this terminal to a replica of a running job, by its webAccessUri. The
/// replica is the master if none is named; "3/REPLICA" is one of trial 3 of a tuning job. Exit status: the
/// shell's. If standard input is no terminal, its bytes are typed, then the end of the file.
[[nodiscard]] ExitStatus OpenJobShell(const CommandSession& session);

/// `jobs submit training`: checks the flags, builds and uploads packages, creates the job, and with
/// --stream-logs follows it to its end. Exit status: 0 once created; with --stream-logs 0 only if the job
/// ended SUCCEEDED. Ctrl-C leaves the job alone. Source: gcloud; recorded in tests/golden/cli.
[[nodiscard]] ExitStatus SubmitTraining(const CommandSession& session);

}  // namespace trainyard::cli
