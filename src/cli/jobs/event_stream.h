#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

/// One event with data.
struct ServerEvent {
  std::string type;  ///< empty: "message"
  std::string id;    ///< the last id, of this event or an earlier one
  std::string data;
  friend bool operator==(const ServerEvent&, const ServerEvent&) = default;
};

/// Parses a stream of server-sent events from any pieces of it. Source: HTML standard, "Parsing an event
/// stream". Pure.
class EventParser {
 public:
  /// The events that these bytes complete.
  [[nodiscard]] std::vector<ServerEvent> TakeBytes(std::string_view bytes);

 private:
  void TakeLine(std::string_view line, std::vector<ServerEvent>& events);

  std::string line_;           ///< the incomplete line
  bool after_return_ = false;  ///< the last byte was '\r': a newline now belongs to it
  bool has_data_ = false;
  ServerEvent event_;
};

}  // namespace trainyard::cli
