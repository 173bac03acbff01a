#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::agent {

/// What the cluster's script tells an agent (rules/slurm/batch_script.h).
struct Arguments {
  std::string server_host;
  std::uint16_t server_port = 0;
  std::string fingerprint;        ///< of the server's certificate or its authority's (base/tls/certificate.h)
  int slot = -1;                  ///< from 0, in the order of the request
  std::string node;               ///< its name in the cluster
  std::vector<std::string> gpus;  ///< in the notation of CUDA_VISIBLE_DEVICES
  std::string dir;                ///< absolute path; agents keep their files on nodes below it
  /// In a pod: absolute path of the folder of environments and images, whatever the server says. Empty: the
  /// server's, or one below `dir`.
  std::string cache{};
  /// Address for Google's names, to which the hosts file leads here; empty: no hosts file does.
  std::string front{};
  /// Absolute path of the socket of the starter in the container beside the agent's, which runs the job's
  /// image (programs/runtimes/pod_container.h); empty: there is none.
  std::string starter{};
  friend bool operator==(const Arguments&, const Arguments&) = default;
};

/// "--server=HOST:PORT --fingerprint=HEX --slot=N --node=NAME --gpus=LIST --dir=DIR --cache=DIR
/// --front=ADDRESS --starter=SOCKET", in any order; all but the GPUs and the last three are required.
/// kInvalidArgument with the flag as its field. Pure: any thread.
[[nodiscard]] Result<Arguments> ParseArguments(std::span<const std::string_view> words);

}  // namespace trainyard::agent
