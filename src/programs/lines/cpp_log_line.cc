#include "programs/lines/cpp_log_line.h"

#include <charconv>

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;

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
  const std::string_view number = place.substr(colon + 1);
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), parsed.line);
  if (error != std::errc() || stop != number.data() + number.size() || parsed.line < 0) return false;
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

std::optional<CppLogLine> ParseCppLogLine(std::string_view line) noexcept {
  CppLogLine parsed{};
  if (ParseTensorFlow(line, parsed)) return parsed;
  parsed = {};
  if (ParseGlog(line, parsed)) return parsed;
  return std::nullopt;
}

}  // namespace trainyard::replica
