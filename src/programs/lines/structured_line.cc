#include "programs/lines/structured_line.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string>

#include "base/number.h"

namespace trainyard::replica {

namespace {

namespace json = boost::json;
using google::protobuf::Struct;
using google::protobuf::Value;
using logging::v2::LogEntry;

constexpr std::size_t kDepthMax = 32;

void Convert(const json::value& from, Value& to);

void Convert(const json::object& from, Struct& to) {
  auto& fields = *to.mutable_fields();
  for (const auto& [key, value] : from) Convert(value, fields[std::string(key)]);
}

void Convert(const json::value& from, Value& to) {
  switch (from.kind()) {
    case json::kind::null: to.set_null_value(google::protobuf::NULL_VALUE); return;
    case json::kind::bool_: to.set_bool_value(from.get_bool()); return;
    case json::kind::int64: to.set_number_value(static_cast<double>(from.get_int64())); return;
    case json::kind::uint64: to.set_number_value(static_cast<double>(from.get_uint64())); return;
    case json::kind::double_: to.set_number_value(from.get_double()); return;
    case json::kind::string: to.set_string_value(std::string(std::string_view(from.get_string()))); return;
    case json::kind::object: Convert(from.get_object(), *to.mutable_struct_value()); return;
    case json::kind::array:
      to.mutable_list_value();
      for (const json::value& element : from.get_array())
        Convert(element, *to.mutable_list_value()->add_values());
      return;
  }
}

/// The API's numbers are hundreds: 500 is ERROR.
LogEntry::Severity SeverityOf(double number) {
  const double rounded = number / 100;
  return rounded >= 0 && rounded <= static_cast<int>(LogEntry::Severity_MAX)
             ? static_cast<LogEntry::Severity>(static_cast<int>(rounded))
             : LogEntry::DEFAULT;
}

LogEntry::Severity TakeSeverity(json::object& object) {
  LogEntry::Severity severity = LogEntry::DEFAULT;
  if (const json::value* given = object.if_contains("severity")) {
    if (given->is_string()) severity = replica::SeverityOf(std::string_view(given->get_string()));
    if (given->is_number()) severity = SeverityOf(given->to_number<double>());
    if (severity != LogEntry::DEFAULT) object.erase("severity");
  } else if (const json::value* level = object.if_contains("levelname");
             level != nullptr && level->is_string()) {
    severity = replica::SeverityOf(std::string_view(level->get_string()));
  }
  return severity;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool Severity(char letter, LogEntry::Severity& severity) {
  switch (letter) {
    case 'D': severity = LogEntry::DEBUG; return true;
    case 'I': severity = LogEntry::INFO; return true;
    case 'W': severity = LogEntry::WARNING; return true;
    case 'E': severity = LogEntry::ERROR; return true;
    case 'F': severity = LogEntry::CRITICAL; return true;
    default: return false;
  }
}

/// Whether `text` has the shape of `pattern`, in which '0' is any digit.
bool Looks(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '0' ? !IsDigit(text[i]) : text[i] != pattern[i]) return false;
  }
  return true;
}

std::string_view TakeWhile(std::string_view& text, bool (*belongs)(char)) {
  std::size_t size = 0;
  while (size < text.size() && belongs(text[size])) ++size;
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

/// "file.cc:12] text"
bool TakePlace(std::string_view rest, CppLogLine& parsed) {
  const std::size_t end = rest.find("] ");
  const std::size_t bracket = end == std::string_view::npos && rest.ends_with(']') ? rest.size() - 1 : end;
  if (bracket == std::string_view::npos) return false;
  const std::string_view place = rest.substr(0, bracket);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || place.find(' ') != std::string_view::npos)
    return false;
  parsed.line = WholeNumber<decltype(parsed.line)>(place.substr(colon + 1)).value_or(-1);
  if (parsed.line < 0) return false;
  parsed.file = place.substr(0, colon);
  parsed.text = rest.substr(bracket + 1);
  if (parsed.text.starts_with(' ')) parsed.text.remove_prefix(1);
  return true;
}

bool ParseTensorFlow(std::string_view rest, CppLogLine& parsed) {
  if (Looks(rest, "0000-00-00 00:00:00")) {
    const std::size_t end = rest.find(": ");
    if (end == std::string_view::npos || end > 32) return false;
    parsed.time = rest.substr(0, end);
    rest.remove_prefix(end + 2);
  }
  if (rest.size() < 2 || rest[1] != ' ' || !Severity(rest[0], parsed.severity)) return false;
  return TakePlace(rest.substr(2), parsed);
}

bool ParseGlog(std::string_view rest, CppLogLine& parsed) {
  if (rest.empty() || !Severity(rest[0], parsed.severity) || !Looks(rest.substr(1), "0000 00:00:"))
    return false;
  rest.remove_prefix(6);
  parsed.time = TakeWhile(rest, [](char c) { return IsDigit(c) || c == ':' || c == '.'; });
  TakeWhile(rest, [](char c) { return c == ' '; });
  parsed.thread = TakeWhile(rest, IsDigit);
  if (parsed.thread.empty() || !rest.starts_with(' ')) return false;
  return TakePlace(rest.substr(1), parsed);
}

}  // namespace

LogEntry::Severity SeverityOf(std::string_view level) noexcept {
  std::string upper(level.substr(0, 16));
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (upper == "WARN") return LogEntry::WARNING;
  if (upper == "FATAL") return LogEntry::CRITICAL;
  LogEntry::Severity severity = LogEntry::DEFAULT;
  return LogEntry::Severity_Parse(upper, &severity) ? severity : LogEntry::DEFAULT;
}

bool ParseStructuredLine(std::string_view text, v1::LogLine& line) {
  if (!text.starts_with('{') || !text.ends_with('}')) return false;
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = kDepthMax;
  json::value value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) return false;
  json::object& object = value.get_object();
  line.set_severity(TakeSeverity(object));
  line.clear_text();
  if (const json::value* message = object.if_contains("message");
      message != nullptr && message->is_string()) {
    line.set_text(std::string(std::string_view(message->get_string())));
    object.erase("message");
  }
  line.clear_json();
  if (!object.empty()) Convert(object, *line.mutable_json());
  return true;
}

std::optional<CppLogLine> ParseCppLogLine(std::string_view line) noexcept {
  CppLogLine parsed{};
  if (ParseTensorFlow(line, parsed)) return parsed;
  parsed = {};
  if (ParseGlog(line, parsed)) return parsed;
  return std::nullopt;
}

}  // namespace trainyard::replica
