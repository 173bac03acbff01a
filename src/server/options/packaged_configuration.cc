#include "server/options/packaged_configuration.h"

#include "base/configuration/effective_file.h"
#include "server/options/serve_options.h"

namespace trainyard::server {
namespace {

constexpr char kPreamble[] =
    R"(# The settings of the service. The keys are the flags of `trainyard serve` without "--".
#
# Take the # from a line and change its value, then:
#
#     trainyard config check && systemctl restart trainyard
#
# `trainyard config show` prints what holds. Secrets do not belong here: name a file that has them.
)";

/// The settings of the installed service that differ from the defaults.
std::vector<configuration::Setting> ActiveSettings() {
  return {
      {.key = "auth", .values = {{.text = "on"}}},
      {.key = "data", .values = {{.text = "/var/lib/trainyard"}}},
  };
}

}  // namespace

std::string PackagedConfiguration() {
  return PrintCommented(kPreamble, ConfigurationKeys(), ActiveSettings());
}

}  // namespace trainyard::server
