#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

/// One event with data.
struct ServerEvent {
  std::string type;  ///< empty: "message"
  std::string id;    ///< the last that was given, by this event or one before
  std::string data;
  friend bool operator==(const ServerEvent&, const ServerEvent&) = default;
};

/// Takes a stream of server-sent events apart, however the bytes are cut. Source: HTML standard, "Parsing an
/// event stream". Pure.
class EventParser {
 public:
  /// The events that these bytes complete.
  [[nodiscard]] std::vector<ServerEvent> Take(std::string_view bytes);

 private:
  void TakeLine(std::string_view line, std::vector<ServerEvent>& events);

  std::string line_;           ///< begun
  bool after_return_ = false;  ///< a newline now belongs to the line end before
  bool has_data_ = false;
  ServerEvent event_;
};

}  // namespace trainyard::cli
