#pragma once

#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/client.h"
#include "net/http/message.h"

namespace trainyard::front {

// Which requests may be forwarded to the real Cloud Storage: only those for the buckets that the operator
// named. The operator's token may permit more than that. Pure: any thread.

/// The bucket that a request of Cloud Storage's JSON or XML API names; nullopt if it names none or several (a
/// list, a batch).
///
/// @param path  raw, as received. @param with_xml  whether "/BUCKET/OBJECT" is a request, too.
[[nodiscard]] std::optional<std::string> BucketOfPath(std::string_view path, bool with_xml);

/// Checks that a request for one of the buckets cannot reach another bucket: the destination of copyTo and
/// rewriteTo, the source of an XML copy (x-goog-copy-source, x-amz-copy-source), and segments that lead
/// elsewhere once they are decoded, however often.
///
/// @return kPermissionDenied with the bucket's name; kInvalidArgument: the path or a source contains "." or
/// "..", or cannot be decoded.
[[nodiscard]] Status CheckReach(const http::Request& request, const std::set<std::string>& names);

/// Forwards requests for the operator's buckets to the real Cloud Storage, each once its body is complete,
/// with the operator's token instead of the replica's. Loop thread; its own threads do the blocking work. The
/// destructor waits for pending requests; calls must have ended.
class RealBuckets {
 public:
  struct Options {
    std::set<std::string> names;
    http::Endpoint upstream;           ///< https://storage.googleapis.com
    std::filesystem::path token_file;  ///< an access token, read for each request; empty: none is sent
    std::filesystem::path spool_dir;   ///< for bodies being forwarded, as unnamed files
  };
  explicit RealBuckets(Options options);

  [[nodiscard]] bool Has(const http::Request& request, bool with_xml) const;
  /// Sends the request and returns the upstream's response. Errors: kPermissionDenied and kInvalidArgument of
  /// CheckReach, before anything is sent; kUnavailable and others of http::Client if there is no response;
  /// kNotFound if there is no token file.
  [[nodiscard]] http::asio::awaitable<Result<http::Response>> Forward(http::Request& request);

 private:
  Options options_;
  http::asio::thread_pool threads_;
};

}  // namespace trainyard::front
