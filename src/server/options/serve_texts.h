#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/options/container_options.h"
#include "server/options/engine_flags.h"
#include "server/options/serve_options.h"

namespace trainyard::server {

/// The texts of flags of `trainyard serve` before they are checked. A flag writes its text here; ReadInto
/// converts it to an option. Flags whose value the parser checks itself write into ServeOptions.
struct ServeTexts {
  std::string listen = "127.0.0.1:8470";
  std::string metrics_listen;
  std::vector<std::string> host_names;
  std::string job_users;
  std::vector<std::string> images;
  ContainerFlags containers;
  EngineFlags engine;
  AccessFlags access;
  std::string accelerators;
  bool declares_accelerators = false;  ///< the flag was given
  std::string accelerator_map;
  std::string request_limits;
  std::string accelerator_quota;
  ShareFlags shares;
  RetentionFlags retention;
  std::vector<std::string> bucket_dirs;
  std::int64_t grace_seconds = 0;
  std::int64_t turn_milliseconds = 0;
  double restart_seconds = 0;

  /// Converts the texts. An error's field is the flag. Pure, except that a relative data directory depends on
  /// the working directory.
  [[nodiscard]] Status ReadInto(ServeOptions& options) const;
};

}  // namespace trainyard::server
