#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace trainyard::control {

/// What projects keep, in bytes, as last measured, with what was written since. Loop thread only.
struct ProjectBytes {
  std::map<std::string, std::int64_t> logs{};
  /// Bytes of the project's buckets; null: they are not measured.
  std::function<std::int64_t(const std::string& project)> buckets{};
};

}  // namespace trainyard::control
