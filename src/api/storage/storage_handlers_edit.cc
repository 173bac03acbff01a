#include "api/storage/storage_handlers_request.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/wire/json.h"
#include "stores/storage/resource.h"

namespace trainyard::api::storage_api {

namespace {

namespace json = boost::json;
using google::protobuf::FieldDescriptor;
using storage::v1::Bucket;
using storage::v1::Object;

// Source: discovery, the fields of Object that objects.patch may change (holds, retention, ACLs and contexts
// apart).
constexpr std::array<std::string_view, 7> kEditable{
    "cache_control", "content_disposition", "content_encoding", "content_language",
    "content_type",  "custom_time",         "metadata"};

const FieldDescriptor* EditableField(std::string_view key) {
  const auto* type = Object::descriptor();
  for (const std::string_view name : kEditable) {
    const FieldDescriptor* field = type->FindFieldByName(std::string(name));
    if (key == name || key == field->json_name()) return field;
  }
  return nullptr;
}

/// Removes null members and returns their keys.
std::vector<std::string> TakeNulls(json::object& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object) {
    if (value.is_null()) keys.emplace_back(key);
  }
  for (const std::string& key : keys) object.erase(key);
  return keys;
}

/// A parsed body: the values to set, and the fields to remove.
struct Patch {
  Object values;
  std::vector<const FieldDescriptor*> fields;  ///< editable ones in the body
  std::vector<std::string> removed_metadata;
  bool names_metadata = false;
};

Result<Patch> ReadBody(std::string_view text) {
  Patch patch;
  boost::system::error_code failure;
  json::value body = json::parse(text, failure);
  json::object* object = failure ? nullptr : body.if_object();
  if (object == nullptr) {  // ParseJson returns the error
    TY_RETURN_IF_ERROR(wire::ParseJson(text, patch.values));
    return patch;
  }
  for (const auto& [key, value] : *object) {
    const FieldDescriptor* field = EditableField(key);
    if (field == nullptr) continue;
    if (field->is_map() && !value.is_null()) {
      patch.names_metadata = true;
    } else {
      patch.fields.push_back(field);
    }
  }
  if (json::value* metadata = object->if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    patch.removed_metadata = TakeNulls(metadata->get_object());
  }
  TakeNulls(*object);
  TY_RETURN_IF_ERROR(wire::ParseJson(json::serialize(body), patch.values));
  Object checked = patch.values;
  checked.set_name("any");  // the name is in the path
  TY_RETURN_IF_ERROR(storage::ValidateNewObject(checked));
  return patch;
}

void SetField(const Object& from, const FieldDescriptor& field, Object& to) {
  Object only = from;
  std::vector<const FieldDescriptor*> set;
  only.GetReflection()->ListFields(only, &set);
  for (const auto* other : set) {
    if (other != &field) only.GetReflection()->ClearField(&only, other);
  }
  to.GetReflection()->ClearField(&to, &field);
  to.MergeFrom(only);
}

/// Source: Cloud Storage's page "Object metadata": once set, Custom-Time can neither be removed nor moved
/// back.
Status CheckCustomTime(const Object& before, const Object& after) {
  if (!before.has_custom_time()) return {};
  const auto time = [](const Object& object) {
    return std::pair(object.custom_time().seconds(), object.custom_time().nanos());
  };
  if (after.has_custom_time() && time(after) >= time(before)) return {};
  return std::unexpected(InvalidArgument({}, "Custom time cannot be removed or set to an earlier time"));
}

}  // namespace

Result<storage::ObjectEdit> ReadPatch(std::string_view json) {
  TY_TRY(Patch patch, ReadBody(json));
  return [patch = std::move(patch)](Object& object) -> Status {
    const Object before = object;
    for (const FieldDescriptor* field : patch.fields) SetField(patch.values, *field, object);
    TY_RETURN_IF_ERROR(CheckCustomTime(before, object));
    if (!patch.names_metadata) return {};
    for (const std::string& key : patch.removed_metadata) object.mutable_metadata()->erase(key);
    for (const auto& [key, value] : patch.values.metadata()) (*object.mutable_metadata())[key] = value;
    return {};
  };
}

Result<storage::ObjectEdit> ReadUpdate(std::string_view json) {
  TY_TRY(Patch patch, ReadBody(json));
  return [patch = std::move(patch)](Object& object) -> Status {
    const Object before = object;
    for (const std::string_view name : kEditable) {
      SetField(patch.values, *Object::descriptor()->FindFieldByName(std::string(name)), object);
    }
    return CheckCustomTime(before, object);
  };
}

namespace {

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
