#pragma once

#include <map>
#include <string>
#include <vector>

namespace trainyard::replica {

using Variables = std::map<std::string, std::string>;

/// The sources of the variables of the user's process; later members take precedence.
struct VariableSources {
  Variables base;         ///< of the replica: HOME, TMPDIR, HOSTNAME
  Variables devices{};    ///< CUDA_VISIBLE_DEVICES, TPU_CONFIG and their like
  Variables cluster;      ///< TF_CONFIG and its like
  Variables environment;  ///< of the Python environment; "PATH" is prepended to PATH
  Variables manifest;     ///< of the server
  Variables channels;     ///< how the buckets are reached
};

/// "NAME=value" for each variable: PATH and LANG of a plain system, PYTHONUNBUFFERED (lines are logged when
/// they are written), then the sources. The supervisor's own environment is not included. Pure: any thread.
[[nodiscard]] std::vector<std::string> UserEnvironment(const VariableSources& sources);

}  // namespace trainyard::replica
