#pragma once

#include <array>
#include <cstdint>

namespace trainyard::http {

/// Requests that were answered, by the first digit of the status (index 0 and 6 to 9 stay 0). Loop thread
/// only.
struct RequestCounts {
  std::array<std::int64_t, 10> by_class{};
  void Add(int status) { ++by_class.at(static_cast<std::size_t>(status / 100 % 10)); }
};

}  // namespace trainyard::http
