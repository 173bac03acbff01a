#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "control/collaborators.h"
#include "control/run/runner_registry.h"
#include "rules/jobs/waiting.h"
#include "trainyard/control/v1/job_rows.pb.h"

namespace trainyard::control {

/// The displayed form of a job: from its record, and from what its runner knows in addition. Loop thread
/// only.
class JobPresenter {
 public:
  /// Both outlive it.
  JobPresenter(const Collaborators& outside, RunnerRegistry& registry)
      : outside_(outside), registry_(registry) {}

  /// The API's form: with its position in the queue, and the revision as etag. Without trials.
  [[nodiscard]] ml::v1::Job Present(const v1::JobRecord& record) const;

  /// The same with a tuning job's trials: in the state that their runner knows, or else in which they ended.
  /// All of them if there are at most `trials_max`, otherwise the best one. For an unfinished job nothing is
  /// read. Errors: of the store.
  boost::asio::awaitable<Result<ml::v1::Job>> Show(v1::JobRecord record, int trials_max);

  /// What it waits for; nothing if it does not wait. For a tuning job without a running trial, what one of
  /// its trials waits for.
  [[nodiscard]] std::optional<jobs::Waiting> WhyWaiting(const v1::JobRecord& record) const;

  /// The job as a line of a table (rules/jobs/job_row.h).
  [[nodiscard]] v1::JobRow Row(const v1::JobRecord& record) const;

 private:
  const Collaborators& outside_;
  RunnerRegistry& registry_;
};

}  // namespace trainyard::control
