#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Under which names a server answers. Pure: any thread.
namespace trainyard::access {

/// Names that always mean this machine (wire::IsLoopbackName) need not be listed.
struct AllowedHosts {
  /// In lower case, without a port: the listener's own address, and what --host-name gives.
  std::vector<std::string> names;
  /// Ends of names, ".metadata.trainyard": whatever stands before them.
  std::vector<std::string> suffixes;
};

/// Refuses what a page reaches by DNS rebinding: a Host field of a name that is not this server's, or none.
/// The port does not matter. kPermissionDenied, naming the flag that allows the name.
[[nodiscard]] Status CheckHost(std::string_view host_field, const AllowedHosts& allowed);

}  // namespace trainyard::access
