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

// Which requests may be passed on to the real Cloud Storage: those that reach the buckets which the operator
// named, and no others. The operator's token may permit more than that. Pure: any thread.

/// The bucket that a request of Cloud Storage's JSON or XML API is about; nothing for one about none or
/// several: a list, a batch.
///
/// @param path  raw, as it came. @param with_xml  "/BUCKET/OBJECT" is a request, too.
[[nodiscard]] std::optional<std::string> BucketOfPath(std::string_view path, bool with_xml);

/// Checks everything by which a request for one of the buckets could reach another: the destination of
/// copyTo and rewriteTo, the source of an XML copy (x-goog-copy-source, x-amz-copy-source), and segments that
/// lead elsewhere once they are decoded, however often.
///
/// @return kPermissionDenied with the bucket's name; kInvalidArgument: the path or a source says "." or "..",
/// or cannot be decoded.
[[nodiscard]] Status CheckReach(const http::Request& request, const std::set<std::string>& names);

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
