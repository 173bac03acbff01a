#include "control/upkeep/backup_runner.h"

#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "base/async/diagnostics.h"

namespace trainyard::control {

using control::v1::Backup;

BackupRunner::~BackupRunner() {
  stop_.request_stop();
  thread_.join();
}

Result<Backup> BackupRunner::Begin(backup::BackupOptions options) {
  Backup begun;
  const bool is_free = state_.With([&](Backup& state) {
    if (state.state() == Backup::RUNNING) {
      begun = state;
      return false;
    }
    state.Clear();
    state.set_state(Backup::RUNNING);
    state.set_directory(options.folder);
    begun = state;
    return true;
  });
  if (!is_free) return std::unexpected(Aborted("a backup to " + begun.directory() + " is under way"));
  boost::asio::post(thread_, [this, options = std::move(options)] { Run(options); });
  return begun;
}

Backup BackupRunner::Last() const {
  return state_.With([](const Backup& state) { return state; });
}

void BackupRunner::Run(const backup::BackupOptions& options) {
  Diagnose(DiagnosticLevel::kInfo, "backup to " + options.folder + " begins");
  const auto tell = [this](const backup::BackupProgress& progress) {
    state_.With([&progress](Backup& state) {
      state.set_phase(progress.phase);
      state.set_done_bytes(progress.done_bytes);
      state.set_total_bytes(progress.total_bytes);
      state.set_files(progress.files);
      state.set_file_bytes(progress.file_bytes);
    });
  };
  const Result<control::v1::BackupManifest> taken = backup::TakeBackup(options, tell, stop_.get_token());
  state_.With([&taken](Backup& state) {
    state.set_state(taken ? Backup::SUCCEEDED : Backup::FAILED);
    if (taken) *state.mutable_manifest() = *taken;
    if (!taken) state.set_error(taken.error().message);
  });
  Diagnose(taken ? DiagnosticLevel::kInfo : DiagnosticLevel::kError,
           taken ? "backup to " + options.folder + " is complete"
                 : "backup to " + options.folder + " failed: " + taken.error().message);
}

}  // namespace trainyard::control
