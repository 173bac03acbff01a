#include "base/wire/field_mask.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/wire/utf8.h"

namespace trainyard::wire {
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

}  // namespace

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
