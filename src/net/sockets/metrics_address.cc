#include "net/sockets/metrics_address.h"

#include <charconv>
#include <string_view>

namespace trainyard::sockets {

Result<MetricsAddress> ParseMetricsAddress(const std::string& text) {
  MetricsAddress address;
  std::string_view port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    address.host = text.substr(0, colon);
    port = std::string_view(text).substr(colon + 1);
    if (address.host.starts_with('[') && address.host.ends_with(']'))
      address.host = address.host.substr(1, address.host.size() - 2);
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error == std::errc() && end == port.data() + port.size() && !port.empty() && !address.host.empty())
    return address;
  return std::unexpected(InvalidArgument("--metrics-listen", "'" + text + "' is not HOST:PORT"));
}

}  // namespace trainyard::sockets
