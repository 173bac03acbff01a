#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace trainyard::sockets {

/// The value of --metrics-listen.
struct MetricsAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  friend bool operator==(const MetricsAddress&, const MetricsAddress&) = default;
};

/// "HOST:PORT", PORT alone (the loopback), "[::1]:PORT". kInvalidArgument otherwise, with the flag as the
/// field. Pure.
[[nodiscard]] Result<MetricsAddress> ParseMetricsAddress(const std::string& text);

}  // namespace trainyard::sockets
