#include "cli/gcloud/json_value.h"

#include <algorithm>
#include <utility>

#include "base/wire/json_tree.h"

namespace trainyard::cli {
namespace {

const Json* Member(const Json& object, std::string_view name) {
  if (object.kind != Json::Kind::kObject) return nullptr;
  for (auto member = object.children.rbegin(); member != object.children.rend(); ++member)
    if (member->name == name) return &*member;
  return nullptr;
}

}  // namespace

Json JsonString(std::string text) { return {.kind = Json::Kind::kString, .text = std::move(text)}; }

Json JsonNumber(std::string text) { return {.kind = Json::Kind::kNumber, .text = std::move(text)}; }

Json JsonBool(bool value) { return {.kind = Json::Kind::kBool, .text = value ? "true" : "false"}; }

Json JsonObject(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json object{.kind = Json::Kind::kObject};
  for (const auto& [name, value] : members) {
    object.children.push_back(value);
    object.children.back().name = name;
  }
  return object;
}

Json JsonArray(const std::vector<std::string>& strings) {
  Json array{.kind = Json::Kind::kArray};
  for (const std::string& text : strings) array.children.push_back(JsonString(text));
  return array;
}

const Json* FindMember(const Json& object, std::string_view path) {
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
  const Json* found = FindMember(object, path);
  return found == nullptr ? std::string() : found->text;
}

const std::vector<Json>& ListAt(const Json& object, std::string_view path) {
  static const std::vector<Json> kNone;
  const Json* list = FindMember(object, path);
  return list == nullptr ? kNone : list->children;
}

void SetMember(Json& object, std::string_view path, Json value) {
  if (object.kind != Json::Kind::kObject) object = {.kind = Json::Kind::kObject, .name = object.name};
  std::size_t dot = path.find('.');
  std::string_view name = path.substr(0, dot);
  auto* member = const_cast<Json*>(Member(object, name));
  if (member == nullptr) {
    object.children.push_back({.kind = Json::Kind::kObject, .name = std::string(name)});
    member = &object.children.back();
  }
  if (dot != std::string_view::npos) return SetMember(*member, path.substr(dot + 1), std::move(value));
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

std::string PrintCompact(const Json& value) { return wire::PrintJsonTree(Sorted(value)); }

std::string PrintIndented(const Json& value) {
  std::string text = wire::IndentJson(PrintCompact(value));
  text.pop_back();  // the line end
  return text;
}

}  // namespace trainyard::cli
