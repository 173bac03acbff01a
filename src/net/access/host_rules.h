#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Under which names a server answers. Pure: any thread.
namespace trainyard::access {

/// Names of this machine itself (wire::IsLoopbackName) are always accepted and need not be listed.
struct AllowedHosts {
  /// In lower case, without a port: the listener's own address, and what --host-name gives.
  std::vector<std::string> names;
  /// Suffixes, such as ".metadata.trainyard": any name that ends with one is accepted.
  std::vector<std::string> suffixes;
};

/// Refuses what a page reaches by DNS rebinding: a Host field that is missing or names another host. The port
/// does not matter. kPermissionDenied, naming the flag that allows the name.
[[nodiscard]] Status CheckHost(std::string_view host_field, const AllowedHosts& allowed);

}  // namespace trainyard::access
