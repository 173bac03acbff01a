#pragma once

#include <string>

namespace trainyard::server {

/// The configuration file that is installed with the service: every key with its default and its help, and
/// the values that a service needs. packaging/config.yaml is this text; a test compares them. Pure.
[[nodiscard]] std::string PackagedConfiguration();

}  // namespace trainyard::server
