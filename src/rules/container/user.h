#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Pure: any thread.
namespace trainyard::container {

/// The identity of a container's program.
struct User {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  ///< further ones
  std::string home = "/";
  bool operator==(const User&) const = default;
};

/// The image's USER: "", "name", "uid", "name:group", "uid:gid", looked up in the image's passwd and group
/// files (their whole text; empty: there is no file). As in Docker, a number need not be in the files.
/// Without a group the result has the user's own group and every group that lists the user; with a group,
/// only that group.
/// @return kFailedPrecondition: the files have no such name.
[[nodiscard]] Result<User> ResolveUser(std::string_view user, std::string_view passwd,
                                       std::string_view group);

/// The image's STOPSIGNAL: "SIGINT", "INT", "2", "SIGRTMIN+3"; empty: SIGTERM.
/// @return kFailedPrecondition: there is no such signal.
[[nodiscard]] Result<int> ParseStopSignal(std::string_view text);

}  // namespace trainyard::container
