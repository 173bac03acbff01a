#pragma once

#include <string>

#include "base/result.h"

namespace trainyard::replica {

/// Where packages come from.
struct DownloadSource {
  std::string replica_socket;  ///< of the server: the API that replicas have
};

/// Fetches gs://BUCKET/OBJECT from the server's storage API into a file. Blocks. Errors: kNotFound: no such
/// object; kInvalidArgument: no such URI; kUnavailable: the server does not answer or closed the connection
/// (worth another try); others as the server says.
[[nodiscard]] Status Download(const DownloadSource& source, const std::string& uri, const std::string& path);

}  // namespace trainyard::replica
