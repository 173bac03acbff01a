#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"

/// Which requests may be passed on to the real Cloud Storage: those that reach the buckets which the operator
/// named, and no others. The operator's token may permit more than that. Pure: any thread.
namespace trainyard::front {

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

}  // namespace trainyard::front
