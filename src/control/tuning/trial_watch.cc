#include "control/tuning/trial_watch.h"

#include <utility>

#include "base/wire/time.h"
#include "rules/jobs/trial.h"

namespace trainyard::control {

TrialWatch::TrialWatch(boost::asio::any_io_executor loop, const v1::JobRecord& trial,
                       storage::Buckets& buckets, OnReport on_report)
    : metrics_(jobs::MetricTag(trial), jobs::TrialJobDir(trial), wire::FromProto(trial.job().create_time()),
               buckets),
      on_report_(std::move(on_report)),
      finish_(loop),
      idle_(loop) {
  idle_.Set();
  if (trial.trial().has_report()) static_cast<void>(metrics_.Take(trial.trial().report()));
  for (const v1::ReplicaRecord& replica : trial.replicas()) {  // it has ended and is not measured yet
    if (replica.exit().has_metrics() && replica.id().type() == replica::v1::MASTER)
      static_cast<void>(metrics_.Take(replica.exit().metrics()));
  }
}

void TrialWatch::Take(replica::v1::MetricReport reported) {
  if (metrics_.Take(std::move(reported))) on_report_();
}

boost::asio::awaitable<void> TrialWatch::Run() {
  while (!finishing_) {
    if (co_await finish_.WaitFor(kSummariesInterval)) co_return;
    idle_.Reset();
    const bool changed = co_await metrics_.ReadSummaries();
    idle_.Set();
    if (changed) on_report_();
  }
}

boost::asio::awaitable<v1::Event::TrialMeasured> TrialWatch::Finish() {
  finishing_ = true;
  finish_.Set();
  co_await idle_.Wait();
  if (co_await metrics_.ReadSummaries()) on_report_();
  v1::Event::TrialMeasured measured;
  *measured.mutable_report() = metrics_.report();
  measured.set_no_metric(metrics_.WhyNone());
  co_return measured;
}

}  // namespace trainyard::control
