#include "base/wire/json_members.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <utility>

namespace trainyard::wire {

namespace {

namespace json = boost::json;

json::value Parse(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  return error ? json::value() : value;
}

/// JSON's null for a missing member.
const json::value& MemberOf(const json::object& object, std::string_view name) {
  static const json::value kNothing;
  const json::value* value = object.if_contains(json::string_view(name.data(), name.size()));
  return value != nullptr ? *value : kNothing;
}

}  // namespace

std::optional<json::object> ParseJsonObject(std::string_view text) {
  json::value value = Parse(text);
  return value.is_object() ? std::optional(std::move(value.get_object())) : std::nullopt;
}

std::optional<json::array> ParseJsonList(std::string_view text) {
  json::value value = Parse(text);
  return value.is_array() ? std::optional(std::move(value.get_array())) : std::nullopt;
}

std::string TextIn(const json::object& object, std::string_view name) {
  const json::string* text = MemberOf(object, name).if_string();
  return text != nullptr ? std::string(*text) : std::string();
}

std::int64_t NumberIn(const json::object& object, std::string_view name) {
  boost::system::error_code error;
  const auto number = MemberOf(object, name).to_number<std::int64_t>(error);
  return error ? 0 : number;
}

bool FlagIn(const json::object& object, std::string_view name) {
  const bool* flag = MemberOf(object, name).if_bool();
  return flag != nullptr && *flag;
}

const json::object& ObjectIn(const json::object& object, std::string_view name) {
  static const json::object kNothing;
  const json::object* member = MemberOf(object, name).if_object();
  return member != nullptr ? *member : kNothing;
}

const json::array& ListIn(const json::object& object, std::string_view name) {
  static const json::array kNothing;
  const json::array* list = MemberOf(object, name).if_array();
  return list != nullptr ? *list : kNothing;
}

std::vector<std::string> TextsIn(const json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  for (const json::value& item : ListIn(object, name))
    if (const json::string* text = item.if_string()) texts.emplace_back(*text);
  return texts;
}

}  // namespace trainyard::wire
