#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/iam/authority.h"
#include "api/own/own_handlers.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "base/systemd/notify_socket.h"
#include "control/job_service.h"
#include "control/upkeep/backup_runner.h"
#include "control/upkeep/clock_watch.h"
#include "control/upkeep/disk_space.h"
#include "engine/admissions.h"
#include "rules/service/readiness_rules.h"
#include "stores/store/write_probe.h"

namespace trainyard::api {

/// Operators' requests to this server: draining, backups, whether it can take jobs. Loop thread only; the
/// destructor stops a backup under way.
class Operations final : public Administration {
 public:
  struct Sources {
    boost::asio::any_io_executor loop;
    const Clock& clock;
    control::JobService& jobs;
    engine::Admissions& admissions;
    control::DiskSpace& disk;
    control::ClockWatch& clock_watch;
    std::string version;  ///< of this program
    std::string data_dir;
    std::map<std::string, std::string> bucket_dirs;
    std::string backup_dir;  ///< empty: the API takes no backups except from this machine
    AskingAttempts& asking;  ///< knows which requests come from this machine
  };
  /// Drains from the start if the previous server did (`drain`).
  Operations(Sources sources, control::v1::Drain drain);

  /// Call when the previous server's jobs are taken over.
  void SetRecovered() noexcept { recovered_ = true; }
  [[nodiscard]] systemd::ReloadHooks& reload_hooks() noexcept { return reload_hooks_; }

  [[nodiscard]] boost::asio::awaitable<control::v1::AdminStatus> Status() override;
  [[nodiscard]] boost::asio::awaitable<Result<control::v1::Drain>> SetDrain(bool on, std::string by) override;
  [[nodiscard]] boost::asio::awaitable<bool> IsFromMachine(const http::Request& request) const override {
    return sources_.asking.IsFromMachine(request);
  }
  [[nodiscard]] Result<control::v1::Backup> BeginBackup(control::v1::BackupRequest request,
                                                        bool from_machine) override;
  [[nodiscard]] control::v1::Backup LastBackup() const override { return backups_.Last(); }
  [[nodiscard]] boost::asio::awaitable<Result<control::v1::Reload>> Reload() override;
  [[nodiscard]] boost::asio::awaitable<control::v1::Readiness> CheckReady() override;
  /// The logged-in user, otherwise the account at the other end of the connection, which the gate has found.
  [[nodiscard]] std::string WhoAsks(const http::Request& request) const override;

 private:
  /// Updates facts_, unless they are recent.
  boost::asio::awaitable<void> LookWhetherReady();
  boost::asio::awaitable<void> Pulse();
  void AddRunning(control::v1::AdminStatus& status) const;

  Sources sources_;
  control::v1::Drain drain_;
  bool recovered_ = false;
  systemd::ReloadHooks reload_hooks_;
  control::BackupRunner backups_;
  store::WriteProbe probe_;  ///< used on files_' thread
  service::ReadinessFacts facts_;
  std::optional<std::chrono::steady_clock::time_point> checked_at_;
  /// Samples once a second how late the loop was.
  std::map<std::chrono::steady_clock::time_point, std::chrono::milliseconds> lateness_;
  boost::asio::thread_pool files_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::api
