#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Numbers in texts. Pure: any thread.
namespace trainyard::text {

/// "1 job", "2 jobs".
[[nodiscard]] inline std::string Counted(std::int64_t number, std::string_view what) {
  return std::to_string(number).append(" ").append(what).append(number == 1 ? "" : "s");
}

}  // namespace trainyard::text
