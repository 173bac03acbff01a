#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "base/sqlite/testing/simulated_disk.h"
#include "control/testing/fault_log.h"
#include "control/testing/job_ledger.h"
#include "control/testing/simulated_time.h"
#include "control/testing/story.h"
#include "programs/environment/catalogue.h"

namespace trainyard::control {

/// All schedules share the bucket with the programs' package. It is on the machine's own disk.
struct SimulationGround {
  SimulationGround();
  ~SimulationGround();
  SimulationGround(const SimulationGround&) = delete;
  SimulationGround& operator=(const SimulationGround&) = delete;
  std::filesystem::path folder;
  boost::asio::thread_pool files{1};
  environment::Catalogue catalogue;
};

/// What all parts of one schedule share: the loop, the time, the disk, what has happened, and what clients
/// know.
struct Surroundings {
  Surroundings(std::uint64_t seed, bool is_told) : time(loop, seed), disk(seed), story(time, is_told) {}

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
