#pragma once

#include <map>
#include <string>
#include <vector>

namespace trainyard::container {

/// What an image says about the program in it. Source: OCI image spec, config.md.
struct ImageConfig {
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;      ///< CMD
  std::vector<std::string> environment;  ///< NAME=value
  std::string working_dir;               ///< empty: /
  std::string user;                      ///< "1000:1000", "nobody", or empty: root
  std::string stop_signal;               ///< "SIGINT", "2", or empty: SIGTERM
  std::map<std::string, std::string> labels;
};

}  // namespace trainyard::container
