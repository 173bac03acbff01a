#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <stop_token>

#include "base/async/guarded.h"
#include "base/result.h"
#include "stores/backup/take_backup.h"
#include "trainyard/control/v1/admin.pb.h"

namespace trainyard::control {

/// Takes backups on a separate thread, one at a time, and reports progress. Any thread. The destructor stops
/// the one under way, which stays marked as unfinished, and waits for its thread.
class BackupRunner {
 public:
  BackupRunner() = default;
  BackupRunner(const BackupRunner&) = delete;
  BackupRunner& operator=(const BackupRunner&) = delete;
  ~BackupRunner();

  /// kAborted: one is under way. `options.clock` outlives this.
  [[nodiscard]] Result<control::v1::Backup> Begin(backup::BackupOptions options);
  /// The one under way, or the last one.
  [[nodiscard]] control::v1::Backup Last() const;

 private:
  void Run(const backup::BackupOptions& options);

  Guarded<control::v1::Backup> state_;
  std::stop_source stop_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace trainyard::control
