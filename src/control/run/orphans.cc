#include "control/run/orphans.h"

#include <string>
#include <utility>

#include "base/async/diagnostics.h"
#include "control/run/pause.h"

namespace trainyard::control {

Orphans::Orphans(boost::asio::any_io_executor loop, engine::AttemptHosts hosts,
                 engine::Admissions& admissions, std::chrono::milliseconds wait)
    : hosts_(hosts), admissions_(admissions), wait_(wait), tasks_(std::move(loop)) {}

boost::asio::awaitable<std::vector<Orphans::Orphan>> Orphans::Find(std::vector<engine::AttemptRef> attempts) {
  std::vector<Orphan> orphans;
  for (engine::AttemptRef& attempt : attempts) {
    Result<engine::AttemptHost::Holding> holding = co_await hosts_.Of(attempt.agent).HoldingOf(attempt);
    Orphan orphan{.attempt = std::move(attempt), .holding = {}};
    if (holding) orphan.holding = *std::move(holding);
    orphans.push_back(std::move(orphan));
  }
  co_return orphans;
}

void Orphans::Sweep(std::vector<Orphan> orphans) {
  if (orphans.empty()) return;
  Diagnose(DiagnosticLevel::kInfo,
           "removing what " + std::to_string(orphans.size()) + " attempts of ended jobs left");
  for (const Orphan& orphan : orphans)
    admissions_.HoldForOrphan(orphan.attempt, orphan.holding.job_id, orphan.holding.devices);
  tasks_.Spawn(SweepAll(std::move(orphans)));
}

void Orphans::OnGone(engine::AttemptRef attempt) { tasks_.Spawn(Forget(std::move(attempt))); }

boost::asio::awaitable<void> Orphans::SweepAll(std::vector<Orphan> orphans) {
  for (const Orphan& orphan : orphans) {
    const engine::Inspection found = co_await hosts_.Of(orphan.attempt.agent).Inspect(orphan.attempt);
    switch (found.state) {
      case engine::AttemptState::kUnknown:
      case engine::AttemptState::kPending:
      case engine::AttemptState::kAlive: OnHello(orphan.attempt); break;
      case engine::AttemptState::kEnded:
      case engine::AttemptState::kLost:
      case engine::AttemptState::kAbsent: co_await Forget(orphan.attempt); break;
    }
  }
}

void Orphans::OnHello(engine::AttemptRef attempt) {
  if (ending_.insert(attempt.id).second) tasks_.Spawn(EndUntilDone(std::move(attempt)));
}

/// Its job needs nothing more of it: neither its work nor its lines.
boost::asio::awaitable<void> Orphans::EndUntilDone(engine::AttemptRef attempt) {
  Trouble trouble;
  co_await Pause(wait_);
  Status killed = co_await hosts_.Of(attempt.agent).Kill(attempt);
  while (!killed) {
    trouble.Say(DiagnosticLevel::kError, attempt.id + ", an attempt of a job that has ended, may live and " +
                                             "cannot be killed: " + killed.error().message);
    co_await Pause(wait_);
    killed = co_await hosts_.Of(attempt.agent).Kill(attempt);
  }
  ending_.erase(attempt.id);
  co_await Forget(std::move(attempt));
}

boost::asio::awaitable<void> Orphans::Forget(engine::AttemptRef attempt) {
  const Status forgotten = co_await hosts_.Of(attempt.agent).Forget(attempt);
  const bool lives = !forgotten && forgotten.error().code == Code::kFailedPrecondition;
  if (!lives) admissions_.ProveOrphan(attempt);
  if (!forgotten)
    Diagnose(DiagnosticLevel::kWarning, attempt.id + " left files behind: " + forgotten.error().message);
}

}  // namespace trainyard::control
