#include "server/option_rules.h"

#include "server/listen_address.h"

namespace trainyard::server {

Status CheckOptionRules(const ServeOptions& options) {
  if (Status address = CheckListenAddress(options.host, options.auth); !address) {
    Error error = std::move(address).error();
    error.field = "--listen";
    return std::unexpected(std::move(error));
  }
  if (options.network == replica::v1::Manifest::ISOLATED && !options.google_front)
    return std::unexpected(
        FailedPrecondition("--google-front off needs --network host: a replica in a network of its own "
                           "reaches nothing but this server",
                           "--google-front"));
  return {};
}

}  // namespace trainyard::server
