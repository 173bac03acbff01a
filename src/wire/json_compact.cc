#include "wire/json_compact.h"

#include <boost/json/serialize.hpp>
#include <cstddef>

#include "wire/json_tree.h"

namespace trainyard::wire {
namespace {

std::string Quoted(std::string_view text) { return boost::json::serialize(boost::json::string_view(text)); }

void Append(std::string& out, const JsonValue& value) {
  using Kind = JsonValue::Kind;
  const bool is_object = value.kind == Kind::kObject;
  switch (value.kind) {
    case Kind::kNull: out += "null"; return;
    case Kind::kBool:
    case Kind::kNumber: out += value.text; return;
    case Kind::kString: out += Quoted(value.text); return;
    case Kind::kArray:
    case Kind::kObject: break;
  }
  out += is_object ? '{' : '[';
  const std::size_t start = out.size();
  for (const JsonValue& child : value.children) {
    if (out.size() > start) out += ',';
    if (is_object) out.append(Quoted(child.name)).push_back(':');
    Append(out, child);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

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

std::string PrintJsonTree(const JsonValue& value) {
  std::string out;
  Append(out, value);
  return out;
}

}  // namespace trainyard::wire
