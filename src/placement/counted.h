#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::placement {

/// "1 job", "2 jobs".
[[nodiscard]] inline std::string Counted(std::int64_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

}  // namespace trainyard::placement
