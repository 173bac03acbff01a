#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::control {

/// Numbers about the control loop's work. A value.
struct Figures {
  static constexpr std::size_t kStates = static_cast<std::size_t>(ml::v1::Job::State_MAX) + 1;
  std::array<std::int64_t, kStates> unfinished{};  ///< jobs now, by state
  std::array<std::int64_t, kStates> ended{};  ///< jobs since this server started, by the state they ended in
  std::int64_t created = 0;                   ///< jobs since this server started
  std::int64_t supervisors = 0;               ///< attempts that run or may run
  std::int64_t log_lines = 0;  ///< of replicas, since this server started; repeated ones count again
  std::int64_t log_bytes = 0;
  std::int64_t log_bytes_dropped =
      0;  ///< of what programs wrote: beyond a limit, or while nothing could be stored
};

/// The bytes stored by projects, as last measured, plus what was written since. Loop thread only.
struct ProjectBytes {
  std::map<std::string, std::int64_t> logs{};
  /// Bytes of the project's buckets; null: they are not measured.
  std::function<std::int64_t(const std::string& project)> buckets{};
};

}  // namespace trainyard::control
