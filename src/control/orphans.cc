#include "control/orphans.h"

#include <filesystem>
#include <utility>

#include "async/diagnostics.h"
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

Orphans::Orphans(boost::asio::any_io_executor loop, engine::Engine& engine, const Settings& settings)
    : engine_(engine), settings_(settings), tasks_(std::move(loop)) {}

void Orphans::Sweep(std::vector<std::string> attempt_ids) {
  if (attempt_ids.empty()) return;
  Diagnose(DiagnosticLevel::kInfo,
           "removing what " + std::to_string(attempt_ids.size()) + " attempts of ended jobs left");
  tasks_.Spawn(SweepAll(std::move(attempt_ids)));
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
  if (removed) co_return;
  Diagnose(DiagnosticLevel::kWarning, attempt_id + " left files behind: " + removed.error().message);
}

}  // namespace trainyard::control
