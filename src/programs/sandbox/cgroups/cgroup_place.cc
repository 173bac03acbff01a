#include "programs/sandbox/cgroups/cgroup_place.h"

#include <vector>

namespace trainyard::replica {

namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

bool Contains(std::string_view list, std::string_view word) {
  for (const std::string_view part : Split(list, ',')) {
    if (part == word) return true;
  }
  return false;
}

/// mountinfo writes blanks in paths as \040.
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct Mount {
  std::string root;
  std::string point;
};

/// The first mount of the type that has the super option (any, if empty).
bool FindMount(std::string_view mountinfo, std::string_view type, std::string_view option, Mount& mount) {
  for (const std::string_view line : Split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = Split(line.substr(0, dash), ' ');
    const auto after = Split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3 || after[0] != type) continue;
    if (!option.empty() && !Contains(after[2], option)) continue;
    mount = {.root = Unescape(before[3]), .point = Unescape(before[4])};
    return true;
  }
  return false;
}

/// "/a/b" seen through a mount of "/a" at "/sys/fs/cgroup" is "/sys/fs/cgroup/b".
std::string Place(const Mount& mount, std::string_view path) {
  if (mount.root != "/" && path.starts_with(mount.root)) path.remove_prefix(mount.root.size());
  return path == "/" ? mount.point : mount.point + std::string(path);
}

}  // namespace

CgroupPlace FindCgroup(std::string_view cgroup, std::string_view mountinfo, std::string_view controller) {
  CgroupPlace place;
  for (const std::string_view line : Split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    Mount mount;
    if (Contains(controllers, controller) && FindMount(mountinfo, "cgroup", controller, mount))
      return {Place(mount, path), 1};
    if (line.starts_with("0::") && FindMount(mountinfo, "cgroup2", "", mount))
      place = {Place(mount, path), 2};
  }
  return place;
}

}  // namespace trainyard::replica
