#include "base/wire/field_selector.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/wire/json_tree.h"
#include "base/wire/utf8.h"

namespace trainyard::wire {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

namespace {

std::string SnakeCase(std::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (ToLower(c) != c) snake += '_';
    snake += ToLower(c);
  }
  return snake;
}

Error CannotUpdate(std::string_view name, std::span<const std::string_view> allowed) {
  std::string known;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (i > 0) known += i + 1 == allowed.size() ? " and " : ", ";
    known += allowed[i];
  }
  return InvalidArgument("update_mask",
                         "Only " + known + " can be updated, not '" + ReplaceMalformed(name) + "'");
}

/// Whether the JSON of the type may have arbitrary names.
bool HasAnyName(const Descriptor& type) {
  return type.file() == google::protobuf::Struct::descriptor()->file() ||
         type.full_name() == "google.protobuf.Any";
}

/// The type below a field in JSON; null if names may be arbitrary or there are none.
const Descriptor* TypeBelow(const FieldDescriptor& field) {
  if (field.is_map()) return field.message_type()->map_value()->message_type();
  const Descriptor* type = field.message_type();
  return type != nullptr && HasAnyName(*type) ? nullptr : type;
}

/// A scalar, or a message that is a scalar in JSON.
bool IsLeaf(const FieldDescriptor& field) {
  const Descriptor* type = field.message_type();
  if (type == nullptr) return true;
  return type->full_name() == "google.protobuf.Timestamp" || type->full_name() == "google.protobuf.Duration";
}

std::unexpected<Error> NoSuchField(const std::string& path) {
  return std::unexpected(
      InvalidArgument("fields", "Error expanding 'fields' parameter. Cannot find matching fields for path '" +
                                    ReplaceMalformed(path) + "'."));
}

}  // namespace

/// list = item {"," item}; item = name {("/" | ".") name} ["(" list ")"].
class FieldSelectorParser {
 public:
  explicit FieldSelectorParser(std::string_view text) : text_(text) {}

  Result<FieldSelector> Parse() {
    FieldSelector selector;
    TY_RETURN_IF_ERROR(List(selector.root_, 0));
    if (at_ < text_.size()) return std::unexpected(Mistake());
    return selector;
  }

 private:
  using Node = FieldSelector::Node;

  Status List(Node& into, std::size_t depth) {
    if (depth > kFieldsDepthMax) return std::unexpected(InvalidArgument("fields", "nested too deep"));
    do {
      TY_RETURN_IF_ERROR(Item(into, depth));
    } while (Take(','));
    return {};
  }

  Status Item(Node& into, std::size_t depth) {
    Node* node = &into;
    std::size_t steps = depth;
    do {
      if (++steps > kFieldsDepthMax) return std::unexpected(InvalidArgument("fields", "nested too deep"));
      const std::string_view name = Name();
      if (name.empty()) return std::unexpected(Mistake());
      node = &node->children[std::string(name)];
    } while (Take('/') || Take('.'));
    if (!Take('(')) {
      node->all = true;
      return {};
    }
    TY_RETURN_IF_ERROR(List(*node, steps));
    if (!Take(')')) return std::unexpected(Mistake());
    return {};
  }

  std::string_view Name() {
    SkipBlanks();
    const std::size_t end = std::min(text_.find_first_of(" ,/.()", at_), text_.size());
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    return name;
  }

  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  [[nodiscard]] Error Mistake() const {
    const std::string where = at_ < text_.size() ? "at character " + std::to_string(at_ + 1) : "at its end";
    return InvalidArgument("fields", "Invalid field selection: syntax error " + where);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  if (text.size() > kFieldsBytesMax)
    return std::unexpected(InvalidArgument("fields", "Invalid field selection: too long"));
  return FieldSelectorParser(text).Parse();
}

Status FieldSelector::Resolve(const Descriptor& type) { return ResolveNode(root_, type, ""); }

Status FieldSelector::ResolveNode(Node& node, const Descriptor& type, const std::string& path) {
  std::map<std::string, Node, std::less<>> resolved;
  for (auto& [name, child] : node.children) {
    const std::string at = path.empty() ? name : path + "." + name;
    const FieldDescriptor* field = FindField(type, name);
    if (name == "*") {
      // Below an arbitrary name there may be anything; a name that does not exist selects nothing.
      resolved[name] = std::move(child);
      continue;
    }
    if (field == nullptr) return NoSuchField(at);
    if (!child.children.empty() && IsLeaf(*field))
      return NoSuchField(at + "." + child.children.begin()->first);
    if (field->is_map()) {
      if (const Descriptor* below = TypeBelow(*field)) {
        for (auto& [key, value] : child.children)
          TY_RETURN_IF_ERROR(ResolveNode(value, *below, at + "." + key));
      }
    } else if (const Descriptor* below = TypeBelow(*field); below != nullptr && !IsLeaf(*field)) {
      TY_RETURN_IF_ERROR(ResolveNode(child, *below, at));
    }
    Node& merged = resolved[field->json_name()];
    merged.all = merged.all || child.all;
    merged.children.merge(child.children);
  }
  node.children = std::move(resolved);
  return {};
}

std::string FieldSelector::Apply(std::string_view json) const {
  auto tree = ParseJsonTree(json);
  if (!tree) return std::string(json);
  Select(*tree, root_);
  return IndentJson(PrintJsonTree(*tree));
}

void FieldSelector::Select(JsonValue& value, const Node& node) {
  if (node.all) return;
  if (value.kind == JsonValue::Kind::kArray) {
    for (JsonValue& element : value.children) Select(element, node);
    return;
  }
  const auto any = node.children.find("*");
  std::vector<JsonValue> kept;
  for (JsonValue& member : value.children) {
    const auto named = node.children.find(member.name);
    const bool by_name = named != node.children.end();
    if (!by_name && any == node.children.end()) continue;
    const bool is_scalar = member.kind != JsonValue::Kind::kObject && member.kind != JsonValue::Kind::kArray;
    const Node& below = by_name ? named->second : any->second;
    if (is_scalar && !below.all) continue;
    Select(member, below);
    kept.push_back(std::move(member));
  }
  value.children = std::move(kept);
}

Result<std::vector<std::string>> ParseFieldMask(std::string_view text,
                                                std::span<const std::string_view> allowed) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::string_view name = TrimSpace(item);
    if (name.empty()) continue;
    std::string snake = SnakeCase(name);
    if (std::ranges::find(allowed, snake) == allowed.end())
      return std::unexpected(CannotUpdate(name, allowed));
    if (std::ranges::find(names, snake) == names.end()) names.push_back(std::move(snake));
  }
  return names;
}

}  // namespace trainyard::wire
