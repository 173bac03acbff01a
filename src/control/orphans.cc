#include "control/orphans.h"

#include <filesystem>
#include <utility>

#include "async/diagnostics.h"
#include "attempt/attempt_dir.h"
#include "control/manifest.h"

namespace trainyard::control {

Result<std::vector<std::string>> ListAttemptFolders(const Settings& settings) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(settings.attempts_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename();
    if (ParseAttemptId(name)) found.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return std::unexpected(ErrnoError(error.value(), "read " + settings.attempts_dir));
  return found;
}

Orphans::Orphans(boost::asio::any_io_executor loop, engine::Engine& engine, Admissions& admissions,
                 const Settings& settings)
    : engine_(engine), admissions_(admissions), settings_(settings), tasks_(std::move(loop)) {}

void Orphans::Sweep(std::vector<std::string> attempt_ids) {
  if (attempt_ids.empty()) return;
  Diagnose(DiagnosticLevel::kInfo,
           "removing what " + std::to_string(attempt_ids.size()) + " attempts of ended jobs left");
  for (const std::string& attempt_id : attempt_ids) OccupyDevices(attempt_id);
  tasks_.Spawn(SweepAll(std::move(attempt_ids)));
}

/// The attempt's job may not be known any more, but its manifest is in its folder.
void Orphans::OccupyDevices(const std::string& attempt_id) {
  const std::string folder = BareManifest(settings_, attempt_id).places().attempt_dir();
  const Result<replica::v1::Manifest> manifest = replica::ReadManifest(replica::AttemptDir{folder});
  if (manifest && manifest->has_devices())
    admissions_.OccupyDevices(attempt_id, manifest->job_id(), manifest->devices());
}

void Orphans::OnGone(std::string attempt_id) { tasks_.Spawn(Remove(std::move(attempt_id))); }

boost::asio::awaitable<void> Orphans::SweepAll(std::vector<std::string> attempt_ids) {
  for (const std::string& attempt_id : attempt_ids) {
    Result<engine::Liveness> liveness = co_await engine_.Inspect(BareManifest(settings_, attempt_id));
    if (!liveness) {
      Diagnose(DiagnosticLevel::kWarning, attempt_id + " is left alone: " + liveness.error().message);
    } else if (*liveness != engine::Liveness::kAlive) {
      co_await Remove(attempt_id);
    }
  }
}

boost::asio::awaitable<void> Orphans::Remove(std::string attempt_id) {
  Status removed = co_await engine_.Remove(BareManifest(settings_, attempt_id));
  bool lives = !removed && removed.error().code == Code::kFailedPrecondition;
  if (!lives) admissions_.FreeDevices(attempt_id);
  if (!removed)
    Diagnose(DiagnosticLevel::kWarning, attempt_id + " left files behind: " + removed.error().message);
}

}  // namespace trainyard::control
