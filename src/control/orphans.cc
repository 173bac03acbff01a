#include "control/orphans.h"

#include <string>
#include <utility>

#include "async/diagnostics.h"

namespace trainyard::control {

Orphans::Orphans(boost::asio::any_io_executor loop, engine::AttemptHost& host, engine::Allocator& allocator)
    : host_(host), allocator_(allocator), tasks_(std::move(loop)) {}

boost::asio::awaitable<std::vector<Orphans::Orphan>> Orphans::Find(std::vector<engine::AttemptRef> attempts) {
  std::vector<Orphan> orphans;
  for (engine::AttemptRef& attempt : attempts) {
    Result<engine::AttemptHost::Holding> holding = co_await host_.HoldingOf(attempt);
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
    allocator_.HoldDevices(orphan.attempt.id, orphan.holding.job_id, orphan.holding.devices);
  tasks_.Spawn(SweepAll(std::move(orphans)));
}

void Orphans::OnGone(engine::AttemptRef attempt) { tasks_.Spawn(Forget(std::move(attempt))); }

boost::asio::awaitable<void> Orphans::SweepAll(std::vector<Orphan> orphans) {
  for (const Orphan& orphan : orphans) {
    const engine::Inspection found = co_await host_.Inspect(orphan.attempt);
    switch (found.state) {
      case engine::AttemptState::kUnknown:
        Diagnose(DiagnosticLevel::kWarning, orphan.attempt.id + " is left alone: " + found.why);
        break;
      case engine::AttemptState::kPending:
      case engine::AttemptState::kAlive: break;
      case engine::AttemptState::kEnded:
      case engine::AttemptState::kLost:
      case engine::AttemptState::kAbsent: co_await Forget(orphan.attempt); break;
    }
  }
}

boost::asio::awaitable<void> Orphans::Forget(engine::AttemptRef attempt) {
  const Status forgotten = co_await host_.Forget(attempt);
  const bool lives = !forgotten && forgotten.error().code == Code::kFailedPrecondition;
  if (!lives) allocator_.ReleaseDevices(attempt.id);
  if (!forgotten)
    Diagnose(DiagnosticLevel::kWarning, attempt.id + " left files behind: " + forgotten.error().message);
}

}  // namespace trainyard::control
