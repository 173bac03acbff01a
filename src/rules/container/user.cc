#include "rules/container/user.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/number.h"

namespace trainyard::container {

namespace {

/// A line of passwd or group.
using Fields = std::vector<std::string_view>;

Fields Split(std::string_view text, char separator) {
  Fields parts;
  for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

/// The first line with the name or number `word`. Lines with fewer fields are ignored.
std::optional<Fields> FindLine(std::string_view file, std::string_view word, std::size_t fields_min) {
  const auto number = WholeNumber<std::uint32_t>(word);
  std::optional<Fields> by_number;
  for (const std::string_view line : Split(file, '\n')) {
    Fields fields = Split(line, ':');
    if (fields.size() < fields_min) continue;
    if (fields[0] == word) return fields;
    if (number && !by_number && WholeNumber<std::uint32_t>(fields[2]) == number) by_number = fields;
  }
  return by_number;
}

constexpr std::size_t kPasswdFields = 6;  // name:password:uid:gid:comment:home[:shell]
constexpr std::size_t kGroupFields = 3;   // name:password:gid[:members]

/// The groups that list the user as a member.
std::vector<std::uint32_t> GroupsOf(std::string_view group_file, std::string_view user) {
  std::vector<std::uint32_t> groups;
  for (const std::string_view line : Split(group_file, '\n')) {
    const Fields fields = Split(line, ':');
    if (fields.size() <= kGroupFields) continue;
    const auto gid = WholeNumber<std::uint32_t>(fields[2]);
    const Fields members = Split(fields[3], ',');
    if (gid && std::ranges::find(members, user) != members.end()) groups.push_back(*gid);
  }
  return groups;
}

std::unexpected<Error> Missing(std::string_view kind, std::string_view name, std::string_view file) {
  return std::unexpected(FailedPrecondition("the image's USER names the " + std::string(kind) + " '" +
                                            std::string(name) + "', which its " + std::string(file) +
                                            " does not have"));
}

Result<std::uint32_t> ResolveGroup(std::string_view word, std::string_view group_file) {
  if (const auto line = FindLine(group_file, word, kGroupFields)) {
    if (const auto gid = WholeNumber<std::uint32_t>((*line)[2])) return *gid;
  }
  if (const auto gid = WholeNumber<std::uint32_t>(word)) return *gid;
  return Missing("group", word, "/etc/group");
}

}  // namespace

Result<User> ResolveUser(std::string_view user, std::string_view passwd, std::string_view group) {
  const std::size_t colon = user.find(':');
  const std::string_view name = user.substr(0, colon);
  const std::string_view wanted_group =
      colon == std::string_view::npos ? std::string_view() : user.substr(colon + 1);
  const std::string_view word = name.empty() ? "0" : name;
  User found;
  const auto line = FindLine(passwd, word, kPasswdFields);
  const auto own_uid = line ? WholeNumber<std::uint32_t>((*line)[2]) : WholeNumber<std::uint32_t>(word);
  if (!own_uid) return Missing("user", word, "/etc/passwd");
  found.uid = *own_uid;
  if (line) {
    found.gid = WholeNumber<std::uint32_t>((*line)[3]).value_or(0);
    if (!(*line)[5].empty()) found.home = (*line)[5];
  } else if (found.uid == 0) {
    found.home = "/root";
  }
  if (wanted_group.empty()) {
    if (line) found.groups = GroupsOf(group, (*line)[0]);
    return found;
  }
  TY_TRY(found.gid, ResolveGroup(wanted_group, group));
  return found;
}

Result<int> ParseStopSignal(std::string_view text) {
  constexpr int kRealTimeFirst = 34;  // SIGRTMIN of glibc, which is what Docker means
  constexpr int kLast = 64;
  if (text.empty()) return SIGTERM;
  const auto wrong = [text] {
    return std::unexpected(
        FailedPrecondition("the image's STOPSIGNAL '" + std::string(text) + "' is no signal"));
  };
  if (const auto number = WholeNumber<int>(text)) {
    if (*number < 1 || *number > kLast) return wrong();
    return *number;
  }
  std::string_view name = text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  if (name.starts_with("RTMIN")) {
    name.remove_prefix(5);
    const auto offset = name.starts_with('+') ? WholeNumber<int>(name.substr(1)) : std::optional<int>();
    if (name.empty()) return kRealTimeFirst;
    if (!offset || *offset < 0 || *offset > kLast - kRealTimeFirst) return wrong();
    return kRealTimeFirst + *offset;
  }
  for (int signal = 1; signal < kRealTimeFirst; ++signal) {
    const char* known = sigabbrev_np(signal);
    if (known != nullptr && name == known) return signal;
  }
  return wrong();
}

}  // namespace trainyard::container
