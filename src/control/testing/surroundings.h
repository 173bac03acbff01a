#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/sqlite/testing/simulated_disk.h"
#include "control/testing/fault_log.h"
#include "control/testing/job_ledger.h"
#include "control/testing/simulated_time.h"
#include "control/testing/story.h"
#include "programs/environment/catalogue.h"
#include "stores/storage/buckets.h"

namespace trainyard::control {

/// All schedules share the bucket with the programs' package, which they only read. It is on the machine's
/// own disk.
struct SimulationGround {
  /// @param scratch  an existing directory in which it makes one of its own
  explicit SimulationGround(const std::filesystem::path& scratch);
  ~SimulationGround();
  SimulationGround(const SimulationGround&) = delete;
  SimulationGround& operator=(const SimulationGround&) = delete;
  std::filesystem::path folder;
  boost::asio::thread_pool files{1};
  environment::Catalogue catalogue;
  std::unique_ptr<storage::Buckets> buckets;

 private:
  class StoppedClock final : public Clock {
   public:
    [[nodiscard]] SysTime Now() const override { return SysTime(std::chrono::seconds(1'600'000'000)); }
  };
  StoppedClock clock_;
};

/// All parts of one schedule share these things: the loop, the time, the disk, the story and the ledgers of
/// the clients.
struct Surroundings {
  Surroundings(std::uint64_t seed, Story::Listener listener)
      : time(loop, seed), disk(seed), story(time, std::move(listener)) {
    disk.SetSleep([this](std::chrono::microseconds pause) { time.Pass(pause); });
  }

  /// A random number from 0 to `bound` - 1, for what happens between the actions.
  [[nodiscard]] std::size_t Below(std::size_t bound) {
    return static_cast<std::size_t>(time.random()() % bound);
  }

  boost::asio::io_context loop{1};
  SimulatedTime time;
  sqlite::SimulatedDisk disk;
  Story story;
  FaultLog faults;
  Ledgers ledgers;  ///< by job
};

}  // namespace trainyard::control
