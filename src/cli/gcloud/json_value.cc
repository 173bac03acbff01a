#include "cli/gcloud/json_value.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace trainyard::cli {
namespace {

const Json* Member(const Json& object, std::string_view name) {
  if (object.kind != Json::Kind::kObject) return nullptr;
  for (auto member = object.children.rbegin(); member != object.children.rend(); ++member)
    if (member->name == name) return &*member;
  return nullptr;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\b') {
      out += "\\b";
    } else if (c == '\f') {
      out += "\\f";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// `indent` below 0: everything on one line.
void Print(const Json& value, int indent, std::string& out) {
  bool is_object = value.kind == Json::Kind::kObject;
  if (value.kind == Json::Kind::kString) {
    out += Quote(value.text);
  } else if (value.kind == Json::Kind::kNull) {
    out += "null";
  } else if (!is_object && value.kind != Json::Kind::kArray) {
    out += value.text;
  } else {
    out += is_object ? '{' : '[';
    const char* separator = "";
    int inner = indent < 0 ? indent : indent + 2;
    for (const Json& child : value.children) {
      out += separator;
      if (indent >= 0) out += "\n" + std::string(static_cast<std::size_t>(inner), ' ');
      if (is_object) out += Quote(child.name) + (indent < 0 ? ":" : ": ");
      Print(child, inner, out);
      separator = ",";
    }
    if (indent >= 0 && !value.children.empty())
      out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
    out += is_object ? '}' : ']';
  }
}

}  // namespace

Json JsonString(std::string text) { return {.kind = Json::Kind::kString, .text = std::move(text)}; }

Json JsonNumber(std::string text) { return {.kind = Json::Kind::kNumber, .text = std::move(text)}; }

Json JsonBool(bool value) { return {.kind = Json::Kind::kBool, .text = value ? "true" : "false"}; }

Json JsonObject() { return {.kind = Json::Kind::kObject}; }

Json JsonArray(const std::vector<std::string>& strings) {
  Json array{.kind = Json::Kind::kArray};
  for (const std::string& text : strings) array.children.push_back(JsonString(text));
  return array;
}

const Json* Find(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (at != nullptr) {
    std::size_t dot = path.find('.');
    at = Member(*at, path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return at;
}

std::string TextAt(const Json& object, std::string_view path) {
  const Json* found = Find(object, path);
  return found == nullptr ? std::string() : found->text;
}

void Set(Json& object, std::string_view path, Json value) {
  if (object.kind != Json::Kind::kObject) object = {.kind = Json::Kind::kObject, .name = object.name};
  std::size_t dot = path.find('.');
  std::string_view name = path.substr(0, dot);
  auto* member = const_cast<Json*>(Member(object, name));
  if (member == nullptr) {
    object.children.push_back({.kind = Json::Kind::kObject, .name = std::string(name)});
    member = &object.children.back();
  }
  if (dot != std::string_view::npos) return Set(*member, path.substr(dot + 1), std::move(value));
  value.name = name;
  *member = std::move(value);
}

Json Sorted(const Json& value) {
  Json sorted{.kind = value.kind, .name = value.name, .text = value.text};
  for (const Json& child : value.children) {
    if (value.kind == Json::Kind::kObject && Member(value, child.name) != &child) continue;
    sorted.children.push_back(Sorted(child));
  }
  if (value.kind == Json::Kind::kObject)
    std::ranges::sort(sorted.children, {},
                      [](const Json& member) -> const std::string& { return member.name; });
  return sorted;
}

std::string PrintCompact(const Json& value) {
  std::string out;
  Print(Sorted(value), -1, out);
  return out;
}

std::string PrintIndented(const Json& value) {
  std::string out;
  Print(Sorted(value), 0, out);
  return out;
}

}  // namespace trainyard::cli
