#include "control/attempt_end.h"

#include <utility>

#include "async/diagnostics.h"
#include "control/pause.h"
#include "control/store_lines.h"
#include "wire/time.h"

namespace trainyard::control {

namespace {

/// What an ended attempt left may be unreadable for a moment (no descriptors, no memory).
constexpr int kCollectTriesMax = 5;

boost::asio::awaitable<Result<engine::Engine::Remains>> Collect(const Collaborators& outside,
                                                                replica::v1::Manifest manifest,
                                                                logs::LogSource log) {
  const std::string& source = log.source;
  for (int tries = 1;; ++tries) {
    Result<std::int64_t> next_line = co_await outside.logs.NextLine(log.job_uid, source);
    Result<engine::Engine::Remains> remains = std::unexpected(Unavailable(""));
    if (next_line) remains = co_await outside.engine.Collect(manifest, *next_line);
    if (remains) co_return remains;
    bool again = !next_line || remains.error().code == Code::kFailedPrecondition || tries < kCollectTriesMax;
    Diagnose(DiagnosticLevel::kWarning,
             source + " cannot be collected: " + (next_line ? remains.error() : next_line.error()).message);
    if (!again) co_return remains;
    co_await Pause(outside.settings.retry_pause);
  }
}

}  // namespace

boost::asio::awaitable<bool> MakeSureItIsDead(const Collaborators& outside, replica::v1::Manifest manifest) {
  bool was_alive = false;
  for (;;) {
    Result<engine::Liveness> liveness = co_await outside.engine.Inspect(manifest);
    if (liveness && *liveness != engine::Liveness::kAlive) co_return was_alive;
    Status killed;
    if (liveness) killed = co_await outside.engine.Kill(manifest);
    if (liveness && killed) co_return true;
    was_alive = was_alive || liveness;
    Diagnose(DiagnosticLevel::kError, manifest.attempt_id() + " may live and cannot be ended: " +
                                          (liveness ? killed.error() : liveness.error()).message);
    co_await Pause(outside.settings.retry_pause);
  }
}

boost::asio::awaitable<replica::v1::ExitRecord> CollectRemains(const Collaborators& outside,
                                                               replica::v1::Manifest manifest,
                                                               logs::LogSource source) {
  Result<engine::Engine::Remains> remains = co_await Collect(outside, std::move(manifest), source);
  replica::v1::ExitRecord exit;
  if (remains) {
    for (replica::v1::LogChunk& chunk : remains->chunks)
      co_await StoreLinesAtLast(outside.logs, source, std::move(chunk), outside.settings.retry_pause);
    exit = std::move(remains->exit);
  } else {
    exit.set_cause(replica::v1::ExitRecord::LOST);
    exit.set_message("What the supervisor left cannot be read: " + remains.error().message);
  }
  if (!exit.has_end_time()) *exit.mutable_end_time() = wire::ToProto(outside.clock.Now());
  co_return exit;
}

}  // namespace trainyard::control
