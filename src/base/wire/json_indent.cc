#include "base/wire/json_indent.h"

#include <cstddef>

namespace trainyard::wire {
namespace {

/// The string literal at the front of `text`, quotes included.
std::string_view Literal(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return text.substr(0, end + 1);
}

}  // namespace

std::string IndentJson(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  std::size_t depth = 0;
  const auto new_line = [&] { out.append("\n").append(depth * 2, ' '); };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    const char next = i + 1 < compact.size() ? compact[i + 1] : '\0';
    switch (c) {
      case '"': {
        const std::string_view literal = Literal(compact.substr(i));
        out.append(literal);
        i += literal.size() - 1;
        break;
      }
      case '{':
      case '[':
        out.push_back(c);
        if (next == '}' || next == ']') {
          out.push_back(next);
          ++i;
          break;
        }
        ++depth;
        new_line();
        break;
      case '}':
      case ']':
        if (depth > 0) --depth;
        new_line();
        out.push_back(c);
        break;
      case ',':
        out.push_back(c);
        new_line();
        break;
      case ':': out.append(": "); break;
      default: out.push_back(c);
    }
  }
  out.push_back('\n');
  return out;
}

std::string CompactJson(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out.append(text.substr(i++, 2));
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || !kBlanks.contains(c)) out.push_back(c);
  }
  return out;
}

}  // namespace trainyard::wire
