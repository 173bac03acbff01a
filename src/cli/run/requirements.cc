#include "cli/run/requirements.h"

#include <algorithm>
#include <utility>

namespace trainyard::cli {
namespace {

constexpr int kNestingMax = 10;

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// A comment begins at the line's start or after a space: "pkg @ https://host/a#egg" has none.
std::string_view WithoutComment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

using Reader = std::function<std::optional<std::string>(const std::string&)>;

Status Read(const std::string& path, std::string_view text, const Reader& read, int nesting,
            std::vector<std::string>& found) {
  int number = 0;
  while (!text.empty()) {
    std::string line;
    ++number;
    const int first = number;
    for (bool goes_on = true; goes_on && !text.empty();) {  // a backslash at its end joins lines
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view piece = Trim(WithoutComment(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
      goes_on = piece.ends_with('\\');
      if (goes_on) {
        ++number;
        piece.remove_suffix(1);
      }
      line += piece;
    }
    const std::string_view item = Trim(line);
    const auto refuse = [&](std::string_view why) {
      return std::unexpected(InvalidArgument(
          "", path + ":" + std::to_string(first) + ": `" + std::string(item) + "` " + std::string(why)));
    };
    if (item.empty()) continue;
    if (item.starts_with("-r") || item.starts_with("--requirement")) {
      const std::string_view name = Trim(item.substr(item.starts_with("-r") ? 2 : 13));
      const std::string other(Trim(name.starts_with('=') ? name.substr(1) : name));
      const std::optional<std::string> content = nesting < kNestingMax ? read(other) : std::nullopt;
      if (!content) return refuse("names a file that cannot be read");
      TY_RETURN_IF_ERROR(Read(other, *content, read, nesting + 1, found));
      continue;
    }
    if (item.starts_with('-') || item.find(" --") != std::string_view::npos)
      return refuse("is an option of pip, which is not supported here: remove it");
    if (item.starts_with('.') || item.starts_with('/') || item.starts_with("file:"))
      return refuse("is a path on this machine: put the package's folder next to the program");
    std::optional<std::string> named = NamedRequirement(item);
    if (!named) return refuse("does not name the package: write it as `NAME @ URL`");
    found.push_back(*std::move(named));
  }
  return {};
}

/// Reads the little of TOML that a list of strings needs.
class TomlList {
 public:
  explicit TomlList(std::string_view text) : text_(text) {}

  /// At '['. Nothing if it is no list of plain strings.
  std::optional<std::vector<std::string>> Read() {
    std::vector<std::string> items;
    if (!Take('[')) return std::nullopt;
    for (;;) {
      SkipSpace();
      if (Take(']')) return items;
      if (text_.empty() || (text_.front() != '"' && text_.front() != '\'')) return std::nullopt;
      const char quote = text_.front();
      const std::size_t end = text_.find(quote, 1);
      if (end == std::string_view::npos) return std::nullopt;
      const std::string_view item = text_.substr(1, end - 1);
      if (item.find('\n') != std::string_view::npos ||
          (quote == '"' && item.find('\\') != std::string_view::npos))
        return std::nullopt;
      items.emplace_back(item);
      text_.remove_prefix(end + 1);
      SkipSpace();
      if (Take(',')) continue;
      if (Take(']')) return items;
      return std::nullopt;
    }
  }

 private:
  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void SkipSpace() {
    for (;;) {
      text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
      if (!text_.starts_with('#')) return;
      text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
    }
  }
  std::string_view text_;
};

/// The value of "egg=" behind the address, without extras, and the fragment without it.
struct Fragment {
  std::string egg;
  std::string rest;
};
Fragment ReadFragment(std::string_view fragment) {
  Fragment read;
  while (!fragment.empty()) {
    const std::size_t end = std::min(fragment.find('&'), fragment.size());
    const std::string_view part = fragment.substr(0, end);
    fragment.remove_prefix(std::min(end + 1, fragment.size()));
    if (part.starts_with("egg="))
      read.egg = part.substr(4);
    else
      read.rest.append(read.rest.empty() ? "#" : "&").append(part);
  }
  return read;
}

/// "demo" of ".../demo-1.0-py3-none-any.whl"; empty for another address.
std::string_view WheelName(std::string_view address) {
  if (!address.ends_with(".whl")) return {};
  address.remove_prefix(address.rfind('/') + 1);
  return address.substr(0, address.find('-'));
}

}  // namespace

std::optional<std::string> NamedRequirement(std::string_view item) {
  const std::size_t scheme = item.find("://");
  if (scheme == std::string_view::npos ||
      item.substr(0, scheme).find_first_of(" @;") != std::string_view::npos)
    return std::string(item);
  const std::size_t end = std::min(item.find_first_of(" \t;"), item.size());  // a marker may follow
  const std::string_view whole = item.substr(0, end);
  const std::string_view address = whole.substr(0, whole.find('#'));
  const Fragment fragment = ReadFragment(whole.substr(std::min(address.size() + 1, whole.size())));
  const std::string name = fragment.egg.empty() ? std::string(WheelName(address)) : fragment.egg;
  if (name.empty()) return std::nullopt;
  const std::string_view marker = Trim(item.substr(end));
  return name + " @ " + std::string(address) + fragment.rest +
         (marker.empty() ? "" : " " + std::string(marker));
}

Result<std::vector<std::string>> ReadRequirements(const std::string& path, std::string_view text,
                                                  const Reader& read) {
  std::vector<std::string> found;
  TY_RETURN_IF_ERROR(Read(path, text, read, 0, found));
  return found;
}

Result<std::vector<std::string>> ReadProjectDependencies(const std::string& path, std::string_view text) {
  std::string table;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    if (line.starts_with('[')) table = line.substr(0, line.find('#'));
    if (Trim(table) == "[tool.poetry.dependencies]")
      return std::unexpected(InvalidArgument(
          "", path + " has Poetry's own table of dependencies: write them into a requirements.txt "
                     "(poetry export)"));
    const std::size_t equals = line.find('=');
    if (Trim(table) == "[project]" && equals != std::string_view::npos &&
        Trim(line.substr(0, equals)) == "dependencies") {
      std::string_view rest = text.substr(text.find('=') + 1);
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      std::optional<std::vector<std::string>> items = TomlList(rest).Read();
      if (!items)
        return std::unexpected(InvalidArgument("", path + ": the dependencies are not a list of strings"));
      return *std::move(items);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::vector<std::string>();
}

}  // namespace trainyard::cli
