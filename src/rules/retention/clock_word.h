#pragma once

#include <string>

namespace trainyard::retention {

/// The file that is the operator's word: the machine's clock is right. Made by `trainyard admin retention
/// --confirm`, taken away by the server.
[[nodiscard]] inline std::string ClockWordFile(const std::string& data) {
  return data + "/run/clock-is-right";
}

}  // namespace trainyard::retention
