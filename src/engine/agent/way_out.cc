#include "engine/agent/way_out.h"

#include <array>
#include <sstream>
#include <string>

namespace trainyard::agent {

namespace {

/// The fields are: interface, destination, gateway, flags, references, uses, metric, mask.
bool IsDefault4(const std::string& line) {
  std::istringstream fields(line);
  std::array<std::string, 8> words;
  for (std::string& word : words) fields >> word;
  return words[0] != "Iface" && words[1] == "00000000" && words[7] == "00000000";
}

/// The fields are: destination and its length, source and its length, next hop, metric, references, uses,
/// flags, interface. Routes of the loopback reject packets.
bool IsDefault6(const std::string& line) {
  std::istringstream fields(line);
  std::array<std::string, 10> words;
  for (std::string& word : words) fields >> word;
  return words[0] == std::string(32, '0') && words[1] == "00" && words[9] != "lo";
}

bool AnyLine(std::string_view text, bool (*is_it)(const std::string&)) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (is_it(line)) return true;
  return false;
}

}  // namespace

bool HasWayOut(std::string_view ipv4, std::string_view ipv6) {
  return AnyLine(ipv4, IsDefault4) || AnyLine(ipv6, IsDefault6);
}

}  // namespace trainyard::agent
