#include "programs/lines/task_lines.h"

#include <array>
#include <cstdio>

namespace trainyard::replica {

namespace {

/// The text as Python 3's repr() shows it.
std::string Repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string shown(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      shown.append("\\").append(1, c);
    } else if (c == '\n') {
      shown += "\\n";
    } else if (c == '\r') {
      shown += "\\r";
    } else if (c == '\t') {
      shown += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned>(c));
      shown += escaped.data();
    } else {
      shown += c;
    }
  }
  return shown += quote;
}

std::string Join(const std::vector<std::string>& words, std::string_view separator) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += separator;
    joined += word;
  }
  return joined;
}

}  // namespace

std::string RunningTaskLine(std::string_view arguments) {
  return "Running task with arguments: " + std::string(arguments);
}

std::string RunningModuleLine(std::string_view module) {
  return "Running module " + std::string(module) + ".";
}

std::string RunningCommandLine(const std::vector<std::string>& command) {
  return "Running command: " + Join(command, " ");
}

std::string CommandFailedLine(const std::vector<std::string>& command, int status) {
  std::vector<std::string> shown;
  for (const std::string& word : command) shown.push_back(Repr(word));
  return "Command '[" + Join(shown, ", ") + "]' returned non-zero exit status " + std::to_string(status);
}

}  // namespace trainyard::replica
