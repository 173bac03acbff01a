#include "cli/gcloud/yaml.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace trainyard::cli {
namespace {

constexpr std::size_t kLineWidth = 80;

/// Which styles can represent the text.
struct Analysis {
  bool plain = true;
  bool single = true;
};

std::u32string Decode(std::string_view text) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size();) {
    auto lead = static_cast<unsigned char>(text[i]);
    std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    out += c;
    i += length;
  }
  return out;
}

void Encode(char32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

bool IsBreak(char32_t c) { return c == U'\n' || c == 0x85 || c == 0x2028 || c == 0x2029; }

bool IsSpace(char32_t c) { return c == U' ' || c == U'\t' || c == U'\r' || c == 0 || IsBreak(c); }

bool IsPrintable(char32_t c) {
  if (c == U'\n' || (c >= 0x20 && c <= 0x7e) || c == 0x85) return true;
  return c != 0xfeff &&
         ((c >= 0xa0 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff));
}

/// Whether a character has a meaning at its position in a plain scalar.
bool IsIndicator(const std::u32string& text, std::size_t i) {
  char32_t c = text[i];
  bool followed = i + 1 >= text.size() || IsSpace(text[i + 1]);
  if (i == 0) {
    if (std::u32string_view(U"#,[]{}&*!|>'\"%@`").find(c) != std::u32string_view::npos) return true;
    return (c == U'?' || c == U':' || c == U'-') && followed;
  }
  return (c == U':' && followed) || (c == U'#' && IsSpace(text[i - 1]));
}

Analysis Analyse(const std::u32string& text) {
  if (text.empty()) return {.plain = false, .single = true};
  Analysis result;
  bool has_breaks = false;
  bool indicator = text.starts_with(U"---") || text.starts_with(U"...");
  for (std::size_t i = 0; i < text.size(); ++i) {
    indicator = indicator || IsIndicator(text, i);
    has_breaks = has_breaks || IsBreak(text[i]);
    if (!IsPrintable(text[i])) result.plain = result.single = false;
  }
  bool space_at_end = text.front() == U' ' || text.back() == U' ';
  if (space_at_end || has_breaks || indicator) result.plain = false;
  if (has_breaks) result.single = false;
  return result;
}

/// Whether YAML 1.2 (as ruamel.yaml reads it) would read the plain text as something other than a string.
bool ReadsAsOther(std::string_view text) {
  if (std::string_view("-+.0123456789tTfFnN~=<").find(text.front()) == std::string_view::npos) return false;
  static const RE2 pattern(
      R"(true|True|TRUE|false|False|FALSE|~|null|Null|NULL|<<|=)"
      R"(|[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+)"
      R"(|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
      R"(|[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?[0-9_]+|[-+]?0x[0-9a-fA-F_]+)"
      R"(|[0-9]{4}-[0-9]{2}-[0-9]{2})"
      R"(|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?)"
      R"((?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)");
  return RE2::FullMatch(text, pattern);
}

/// Writes characters and tracks the column.
struct Lines {
  std::string out;
  std::size_t column;
  std::size_t indent;

  void Add(char32_t c) {
    Encode(c, out);
    ++column;
  }
  void Add(std::u32string_view text) {
    for (char32_t c : text) Add(c);
  }
  void Fold() {
    out += '\n' + std::string(indent, ' ');
    column = indent;
  }
};

/// A single space after the line's width becomes a line break. Both styles without escapes do this.
bool FoldsAt(const std::u32string& text, std::size_t i, const Lines& lines) {
  return text[i] == U' ' && i > 0 && i + 1 < text.size() && text[i + 1] != U' ' && text[i - 1] != U' ' &&
         lines.column > kLineWidth;
}

std::string PrintPlain(const std::u32string& text, YamlPlace place) {
  Lines lines{{}, place.column, place.indent};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!place.is_key && FoldsAt(text, i, lines))
      lines.Fold();
    else
      lines.Add(text[i]);
  }
  return lines.out;
}

std::string PrintSingle(const std::u32string& text, YamlPlace place) {
  Lines lines{{}, place.column, place.indent};
  lines.Add(U'\'');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!place.is_key && FoldsAt(text, i, lines))
      lines.Fold();
    else
      lines.Add(text[i]);
  }
  lines.Add(U'\'');
  return lines.out;
}

std::string Escape(char32_t c) {
  static constexpr std::pair<char32_t, char> kShort[] = {
      {0, '0'},      {7, 'a'},    {8, 'b'},    {9, 't'},      {10, 'n'},
      {11, 'v'},     {12, 'f'},   {13, 'r'},   {0x1b, 'e'},   {U'"', '"'},
      {U'\\', '\\'}, {0x85, 'N'}, {0xa0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
  for (auto [character, letter] : kShort)
    if (c == character) return {'\\', letter};
  char text[16];
  const char* form = c <= 0xff ? "\\x%02X" : c <= 0xffff ? "\\u%04X" : "\\U%08X";
  std::snprintf(text, sizeof text, form, static_cast<unsigned>(c));
  return text;
}

std::string PrintDouble(const std::u32string& text, YamlPlace place) {
  Lines lines{{}, place.column, place.indent};
  lines.Add(U'"');
  std::size_t start = 0;
  for (std::size_t end = 0; end <= text.size(); ++end) {
    bool at_end = end == text.size();
    char32_t c = at_end ? 0 : text[end];
    if (at_end || c == U'"' || c == U'\\' || IsBreak(c) || !IsPrintable(c)) {
      if (start < end) lines.Add(std::u32string_view(text).substr(start, end - start));
      start = end;
      if (!at_end) {
        lines.Add(Decode(Escape(c)));
        start = end + 1;
      }
    }
    if (!place.is_key && end > 0 && end + 1 < text.size() && (c == U' ' || start >= end) &&
        lines.column + end - std::min(start, end) > kLineWidth) {
      if (start < end) lines.Add(std::u32string_view(text).substr(start, end - start));
      start = std::max(start, end);
      lines.Add(U'\\');
      lines.Fold();
      if (text[start] == U' ') lines.Add(U'\\');
    }
  }
  lines.Add(U'"');
  return lines.out;
}

std::string PrintLiteral(std::string_view text, YamlPlace place) {
  std::string out = "|";
  if (text.front() == ' ' || text.front() == '\n') out += '2';
  if (text.back() != '\n')
    out += '-';
  else if (text.size() == 1 || text[text.size() - 2] == '\n')
    out += '+';
  if (text.back() == '\n') text.remove_suffix(1);
  std::string indent(place.indent, ' ');
  for (std::size_t start = 0; start <= text.size();) {
    std::size_t end = std::min(text.find('\n', start), text.size());
    out += '\n';
    if (end > start) out += indent + std::string(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

/// Writes a mapping or sequence. Its first line begins at the current position (for example after "- "), its
/// other lines at `indent`. gcloud does not indent a sequence below its key.
void PrintNode(const Json& value, std::size_t indent, std::size_t column, std::string& out);

void PrintLeaf(const Json& value, std::size_t indent, std::size_t column, std::string& out) {
  if (value.kind == Json::Kind::kString)
    out += PrintYamlString(value.text, {.column = column, .indent = indent + 2});
  else if (value.kind == Json::Kind::kNull)
    out += "null";
  else
    out += value.kind == Json::Kind::kNumber ? PrintNumber(value.text) : value.text;
  out += '\n';
}

void PrintMember(const Json& member, std::size_t indent, std::string& out) {
  std::string key = PrintYamlString(member.name, {.column = indent, .indent = indent, .is_key = true}) + ":";
  out += key;
  bool is_object = member.kind == Json::Kind::kObject;
  if (member.children.empty() && (is_object || member.kind == Json::Kind::kArray)) {
    out += is_object ? " {}\n" : " []\n";
  } else if (is_object || member.kind == Json::Kind::kArray) {
    std::size_t inner = is_object ? indent + 2 : indent;
    out += "\n" + std::string(inner, ' ');
    PrintNode(member, inner, inner, out);
  } else {
    out += ' ';
    PrintLeaf(member, indent, indent + key.size() + 1, out);
  }
}

void PrintNode(const Json& value, std::size_t indent, std::size_t column, std::string& out) {
  bool is_object = value.kind == Json::Kind::kObject;
  if (!is_object && value.kind != Json::Kind::kArray) return PrintLeaf(value, indent, column, out);
  if (value.children.empty()) {
    out += is_object ? "{}\n" : "[]\n";
    return;
  }
  bool first = true;
  for (const Json& child : value.children) {
    if (!first) out += std::string(indent, ' ');
    first = false;
    if (is_object) {
      PrintMember(child, indent, out);
    } else {
      out += "- ";
      bool is_leaf = child.kind != Json::Kind::kObject && child.kind != Json::Kind::kArray;
      PrintNode(child, is_leaf ? indent : indent + 2, indent + 2, out);
    }
  }
}

}  // namespace

std::string PrintYamlString(std::string_view text, YamlPlace place) {
  std::u32string characters = Decode(text);
  Analysis can = Analyse(characters);
  if (can.plain && !ReadsAsOther(text)) return PrintPlain(characters, place);
  if (text.find('\n') != std::string_view::npos && !place.is_key) return PrintLiteral(text, place);
  bool single = can.single && text.find_first_of("'\n") == std::string_view::npos;
  return single ? PrintSingle(characters, place) : PrintDouble(characters, place);
}

std::string PrintNumber(const std::string& text) {
  if (text.find_first_of(".eE") == std::string::npos) return text;
  double number = std::strtod(text.c_str(), nullptr);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.6g", number);
  std::string out = buffer;
  std::size_t exponent = out.find("e+");
  if (exponent != std::string::npos && std::atoi(out.c_str() + exponent + 2) < 9) {
    std::snprintf(buffer, sizeof buffer, "%.1f", number);
    return buffer;
  }
  // Python's '{:.6}' keeps ".0".
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string PrintYaml(const Json& value) {
  std::string out;
  PrintNode(Sorted(value), 0, 0, out);
  return out;
}

}  // namespace trainyard::cli
