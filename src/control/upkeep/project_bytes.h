#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace trainyard::control {

/// The bytes stored by projects, as last measured, plus what was written since. Loop thread only.
struct ProjectBytes {
  std::map<std::string, std::int64_t> logs{};
  /// Bytes of the project's buckets; null: they are not measured.
  std::function<std::int64_t(const std::string& project)> buckets{};
};

}  // namespace trainyard::control
