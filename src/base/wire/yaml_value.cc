#include "base/wire/yaml_value.h"

#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <unordered_set>
#include <utility>

#include "base/wire/yaml.h"

namespace trainyard::wire {
namespace {

using Json = JsonValue;

Json JsonString(std::string text) { return {.kind = Json::Kind::kString, .text = std::move(text)}; }
Json JsonNumber(std::string number, const std::string& written) {
  const bool is_same = number == written;
  return {.kind = Json::Kind::kNumber, .text = std::move(number), .written = is_same ? "" : written};
}
Json JsonBool(bool value) { return {.kind = Json::Kind::kBool, .text = value ? "true" : "false"}; }
Json JsonObject() { return {.kind = Json::Kind::kObject}; }

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (text == word) return true;
  return false;
}

/// The digits of [+-]DIGITS in a base, without '_'.
std::string InDecimal(std::string_view text, std::size_t prefix, int base) {
  std::string digits(text.front() == '-' ? "-" : "");
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  for (char c : text.substr(prefix))
    if (c != '_') digits += c;
  return std::to_string(std::strtoll(digits.c_str(), nullptr, base));
}

/// 1:30 is 90.
std::string FromBase60(std::string_view text) {
  std::int64_t sign = text.front() == '-' ? -1 : 1;
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  std::uint64_t total = 0;
  std::uint64_t part = 0;
  for (char c : text) {
    if (c == ':') {
      total = (total + part) * 60;
      part = 0;
    } else if (c != '_') {
      part = part * 10 + static_cast<std::uint64_t>(c - '0');
    }
  }
  // Unsigned, so that an overflow wraps around.
  const std::uint64_t value = total + part;
  return std::to_string(static_cast<std::int64_t>(sign < 0 ? 0 - value : value));
}

std::string Plain(std::string_view number) {
  std::string out;
  for (char c : number)
    if (c != '_' && !(c == '+' && out.empty())) out += c;
  std::size_t dot = out.find('.');
  if (dot == std::string::npos) return out;
  if (dot == 0 || out[dot - 1] == '-') out.insert(dot++, "0");  // JSON requires digits on both sides
  if (dot + 1 == out.size() || std::isdigit(static_cast<unsigned char>(out[dot + 1])) == 0)
    out.insert(dot + 1, "0");
  return out;
}

class Reader {
 public:
  Result<Json> Read(const YAML::Node& node) {
    Result<Json> value = ReadValue(node);
    if (value) value->line = node.Mark().line + 1;
    return value;
  }

 private:
  Result<Json> ReadValue(const YAML::Node& node) {
    // Each use of an alias is read again: a short text may expand to gigabytes.
    if (node.IsScalar()) bytes_ += node.Scalar().size();
    if (bytes_ > kYamlTextMax)
      return std::unexpected(At(node, "with its aliases written out, the text is longer than " +
                                          std::to_string(kYamlTextMax >> 20) + " MiB"));
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null: return Json{};
      case YAML::NodeType::Scalar:
        return node.Tag() == "?" || node.Tag().empty() ? ResolvePlainScalar(node.Scalar()) : Tagged(node);
      case YAML::NodeType::Sequence: return ReadSequence(node);
      case YAML::NodeType::Map: return ReadMap(node);
    }
    return Json{};
  }

  using Names = std::unordered_set<std::string>;

  static Json Tagged(const YAML::Node& node) {
    bool is_plain = node.Tag() == "tag:yaml.org,2002:int" || node.Tag() == "tag:yaml.org,2002:float" ||
                    node.Tag() == "tag:yaml.org,2002:bool" || node.Tag() == "tag:yaml.org,2002:null";
    return is_plain ? ResolvePlainScalar(node.Scalar()) : JsonString(node.Scalar());
  }

  static Error At(const YAML::Node& node, const std::string& reason) {
    return InvalidArgument("", "line " + std::to_string(node.Mark().line + 1) + ", column " +
                                   std::to_string(node.Mark().column + 1) + ": " + reason);
  }

  Result<Json> ReadSequence(const YAML::Node& node) {
    Json array{.kind = Json::Kind::kArray};
    for (const YAML::Node& element : node) {
      TY_TRY(Json value, Read(element));
      array.children.push_back(std::move(value));
    }
    return array;
  }

  Result<Json> ReadMap(const YAML::Node& node) {
    Json object = JsonObject();
    Json merged = JsonObject();
    Names own;
    Names inherited;
    for (const auto& member : node) {
      const YAML::Node& key = member.first;
      const YAML::Node& element = member.second;
      if (!key.IsScalar()) return std::unexpected(At(key, "a key must be a word"));
      TY_TRY(Json value, Read(element));
      if (key.Scalar() == "<<" && key.Tag() == "?") {
        TY_RETURN_IF_ERROR(Merge(element, value, merged, inherited));
        continue;
      }
      if (!own.insert(key.Scalar()).second)
        return std::unexpected(At(key, "found duplicate key \"" + key.Scalar() + "\""));
      value.name = key.Scalar();
      bytes_ += value.name.size();
      object.children.push_back(std::move(value));
    }
    for (Json& member : merged.children)
      if (!own.contains(member.name)) object.children.push_back(std::move(member));
    return object;
  }

  /// `names` are those of the members of `into`.
  static Status Merge(const YAML::Node& node, const Json& value, Json& into, Names& names) {
    if (value.kind == Json::Kind::kArray) {
      for (const Json& element : value.children) TY_RETURN_IF_ERROR(Merge(node, element, into, names));
      return {};
    }
    if (value.kind != Json::Kind::kObject)
      return std::unexpected(At(node, "expected a mapping or list of mappings for merging"));
    for (const Json& member : value.children)
      if (names.insert(member.name).second) into.children.push_back(member);
    return {};
  }

  std::size_t bytes_ = 0;  ///< of scalars and keys, each counted every time it is read
};

}  // namespace

JsonValue ResolvePlainScalar(const std::string& text) {
  static const RE2 decimal("[-+]?(?:0|[1-9][0-9_]*)");
  static const RE2 octal("[-+]?0[0-7_]+");
  static const RE2 hexadecimal("[-+]?0x[0-9a-fA-F_]+");
  static const RE2 binary("[-+]?0b[0-1_]+");
  static const RE2 base60("[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+");
  static const RE2 fraction(
      R"([-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?)");
  static const RE2 power("[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+");
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return Json{};
  if (IsOneOf(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return JsonBool(true);
  if (IsOneOf(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return JsonBool(false);
  if (RE2::FullMatch(text, decimal) || RE2::FullMatch(text, fraction) || RE2::FullMatch(text, power))
    return JsonNumber(Plain(text), text);
  if (RE2::FullMatch(text, octal)) return JsonNumber(InDecimal(text, 1, 8), text);
  if (RE2::FullMatch(text, hexadecimal)) return JsonNumber(InDecimal(text, 2, 16), text);
  if (RE2::FullMatch(text, binary)) return JsonNumber(InDecimal(text, 2, 2), text);
  if (RE2::FullMatch(text, base60)) return JsonNumber(FromBase60(text), text);
  return JsonString(text);
}

Result<JsonValue> ParseYaml(std::string_view text) {
  TY_TRY(const YAML::Node document, LoadYaml(text));
  return Reader().Read(document);
}

}  // namespace trainyard::wire
