#include "cli/jobs/event_stream.h"

#include <algorithm>
#include <utility>

namespace trainyard::cli {

std::vector<ServerEvent> EventParser::TakeBytes(std::string_view bytes) {
  std::vector<ServerEvent> events;
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    TakeLine(line_, events);
    line_.clear();
  }
  return events;
}

void EventParser::TakeLine(std::string_view line, std::vector<ServerEvent>& events) {
  if (line.empty()) {
    if (std::exchange(has_data_, false)) events.push_back(event_);
    event_.type.clear();
    event_.data.clear();
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id" && !value.contains('\0')) {
    event_.id = value;
  }
}

}  // namespace trainyard::cli
