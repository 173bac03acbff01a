#pragma once

#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "net/http/client.h"
#include "net/http/message.h"

namespace trainyard::front {

/// The operator's buckets in the real Cloud Storage: requests for them are passed on, each once its body is
/// complete, with the operator's token in place of the replica's. Loop thread; threads of its own do the
/// waiting. The destructor waits for requests under way; calls must have ended.
class RealBuckets {
 public:
  struct Options {
    std::set<std::string> names;
    http::Endpoint upstream;           ///< https://storage.googleapis.com
    std::filesystem::path token_file;  ///< an access token, read for each request; empty: none is sent
    std::filesystem::path spool_dir;   ///< for bodies on their way, as files without a name
  };
  explicit RealBuckets(Options options);

  [[nodiscard]] bool Has(const http::Request& request, bool with_xml) const;
  /// The upstream's answer. kPermissionDenied and kInvalidArgument of CheckReach, before anything is sent;
  /// kUnavailable and others of http::Client if there is none; kNotFound: there is no
  /// token file.
  [[nodiscard]] http::asio::awaitable<Result<http::Response>> Forward(http::Request& request);

 private:
  Options options_;
  http::asio::thread_pool threads_;
};

}  // namespace trainyard::front
