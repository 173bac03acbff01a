#include "net/access/host_rules.h"

#include <algorithm>
#include <optional>

#include "base/wire/host_name.h"

namespace trainyard::access {

Status CheckHost(std::string_view host_field, const AllowedHosts& allowed) {
  const std::optional<std::string> name = wire::HostNameOf(host_field);
  if (!name) {
    return std::unexpected(
        Error{Code::kPermissionDenied,
              "The Host field is missing or malformed. Ask for this server by its address, "
              "such as localhost",
              ""});
  }
  if (wire::IsLoopbackName(*name) || std::ranges::find(allowed.names, *name) != allowed.names.end())
    return {};
  const auto ends_name = [&](const std::string& suffix) { return name->ends_with(suffix); };
  if (std::ranges::any_of(allowed.suffixes, ends_name)) return {};
  return std::unexpected(
      Error{Code::kPermissionDenied,
            "This server does not answer under the name '" + *name +
                "', because any web page could give that name its address. Ask for localhost, or "
                "start the server with --host-name " +
                *name,
            ""});
}

}  // namespace trainyard::access
