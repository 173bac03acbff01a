#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "control/collaborators.h"
#include "control/run/runner_registry.h"
#include "rules/jobs/waiting.h"
#include "trainyard/control/v1/job_rows.pb.h"

namespace trainyard::control {

/// A job as it is shown: its record, and what those who look after it know beside that. Loop thread only.
class JobPresenter {
 public:
  /// Both outlive it.
  JobPresenter(const Collaborators& outside, RunnerRegistry& registry)
      : outside_(outside), registry_(registry) {}

  /// As the API shows it: with its place in the queue, and the revision as etag. Without trials.
  [[nodiscard]] ml::v1::Job Present(const v1::JobRecord& record) const;

  /// With what a tuning job's trials add: as their runner knows them, else as they were when they ended. All
  /// of a job that has at most `trials_max`, else the best one. Of an unfinished job nothing is read. Errors:
  /// of the store.
  boost::asio::awaitable<Result<ml::v1::Job>> Show(v1::JobRecord record, int trials_max);

  /// What it waits for, a tuning job without a trial that runs for what one of them does; nothing if it
  /// doesn't.
  [[nodiscard]] std::optional<jobs::Waiting> WhyWaiting(const v1::JobRecord& record) const;

  /// As a line of a table (rules/jobs/job_row.h).
  [[nodiscard]] v1::JobRow Row(const v1::JobRecord& record) const;

 private:
  const Collaborators& outside_;
  RunnerRegistry& registry_;
};

}  // namespace trainyard::control
