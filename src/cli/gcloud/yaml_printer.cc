#include "cli/gcloud/yaml.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace trainyard::cli {
namespace {

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
