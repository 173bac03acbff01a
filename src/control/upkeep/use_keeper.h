#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "control/upkeep/figures.h"
#include "engine/local/local_engine.h"
#include "rules/placement/quota.h"
#include "stores/logs/log_store.h"
#include "stores/storage/buckets.h"
#include "stores/store/job_store.h"
#include "trainyard/control/v1/usage.pb.h"

namespace trainyard::control {

/// A meter for buckets that all belong to one project; null if no quota limits their bytes.
[[nodiscard]] std::shared_ptr<storage::ByteMeter> MakeByteMeter(
    const placement::Quotas& quotas, std::function<std::string(const std::string& bucket)> project_of);

/// Stores the past use of projects across restarts, in one small file that is written while jobs run and soon
/// after one ends, and measures the bytes that projects store. If the file is lost, the use is computed from
/// the newest jobs' records. Loop thread only; files are written on the pool. The destructor writes the file.
class UseKeeper {
 public:
  static constexpr std::chrono::seconds kWritePause{60};    ///< the most that a crash loses
  static constexpr std::chrono::seconds kGatherPause{1};    ///< the ends of many jobs are written together
  static constexpr std::chrono::minutes kMeasurePause{10};  ///< programs write to buckets without the server
  static constexpr int kRecordsMax = 10'000;                ///< records that are read if the file is lost

  struct Dependencies {
    engine::LocalEngine& engine;
    logs::LogStore& logs;
    storage::BucketOptions buckets;             ///< their location
    std::shared_ptr<storage::ByteMeter> meter;  ///< null: buckets are not measured
    const Clock& clock;
    boost::asio::thread_pool& files;
    std::string file;  ///< DATA/project-use.json
    const placement::Quotas& quotas;
  };
  /// Passes the stored use to the engine. Blocks. All of the parts outlive it; `jobs` is only used in the
  /// constructor.
  UseKeeper(boost::asio::any_io_executor loop, Dependencies parts, store::JobStore& jobs);
  ~UseKeeper();
  UseKeeper(const UseKeeper&) = delete;
  UseKeeper& operator=(const UseKeeper&) = delete;

  [[nodiscard]] ProjectBytes& bytes() noexcept { return bytes_; }
  /// For api::UsageSource.
  void AddMachine(control::v1::UsageReport& report) const;

 private:
  [[nodiscard]] std::string Print() const;
  boost::asio::awaitable<void> WriteForEver();
  boost::asio::awaitable<void> MeasureForEver();
  boost::asio::awaitable<void> MeasureOnce();

  Dependencies parts_;
  ProjectBytes bytes_;
  boost::asio::thread_pool measuring_{1};  ///< slow, and nothing waits for it
  Event ended_;
  std::optional<TaskGroup> tasks_;
};

}  // namespace trainyard::control
