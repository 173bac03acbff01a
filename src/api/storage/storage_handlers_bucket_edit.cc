#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

#include "api/storage/storage_handlers_edit.h"
#include "base/wire/json.h"

namespace trainyard::api::storage_api {
namespace {

namespace json = boost::json;
using storage::v1::Bucket;

/// RFC 7396 section 2. The depth is bounded by ParseJson, which read the patch before.
void Merge(json::object& target, const json::object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      target.erase(key);
    } else if (const json::object* inner = value.if_object()) {
      json::value& there = target[key];
      if (!there.is_object()) there = json::object();
      Merge(there.get_object(), *inner);
    } else {
      target[key] = value;
    }
  }
}

/// Null removes a label; the JSON mapping of a map has no null.
void DropNulls(json::object& object) {
  json::object kept;
  for (auto& [key, value] : object) {
    if (value.is_null()) continue;
    if (json::object* inner = value.if_object()) DropNulls(*inner);
    kept[key] = std::move(value);
  }
  object = std::move(kept);
}

Result<json::object> ReadObject(std::string_view text) {
  boost::system::error_code failure;
  json::value body = json::parse(text, failure);
  json::object* object = failure ? nullptr : body.if_object();
  if (object == nullptr && text.empty()) return json::object();
  if (object == nullptr) {  // ParseJson returns the error
    Bucket bucket;
    TY_RETURN_IF_ERROR(wire::ParseJson(text, bucket));
    return std::unexpected(InvalidArgument({}, "Parse Error"));
  }
  json::object checked = *object;
  DropNulls(checked);
  Bucket bucket;
  TY_RETURN_IF_ERROR(wire::ParseJson(json::serialize(checked), bucket));
  return std::move(*object);
}

}  // namespace

Result<storage::BucketEdit> ReadBucketPatch(std::string_view text) {
  TY_TRY(json::object patch, ReadObject(text));
  return [patch = std::move(patch)](Bucket& bucket) -> Status {
    json::value merged = json::parse(wire::PrintJsonCompact(bucket));
    Merge(merged.get_object(), patch);
    return wire::ParseJson(json::serialize(merged), bucket);
  };
}

Result<storage::BucketEdit> ReadBucketUpdate(std::string_view text) {
  TY_TRY(json::object body, ReadObject(text));
  DropNulls(body);
  return [text = json::serialize(body)](Bucket& bucket) -> Status { return wire::ParseJson(text, bucket); };
}

}  // namespace trainyard::api::storage_api
