#include "api/storage/storage_handlers_request.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <span>
#include <utility>

#include "base/number.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "base/wire/json.h"
#include "base/wire/json_tree.h"
#include "base/wire/utf8.h"
#include "net/access/caller.h"
#include "net/http/text.h"
#include "rules/iam/refusal.h"
#include "rules/iam/resource.h"

namespace trainyard::api::storage_api {

namespace {

namespace json = boost::json;

constexpr std::size_t kJsonBytesMax = std::size_t{1} << 20;
constexpr std::size_t kResultsMax = 1000;
constexpr std::size_t kFirstPieceBytes = std::size_t{16} << 10;
constexpr const char* kCreate = "storage.objects.create";
constexpr const char* kDelete = "storage.objects.delete";

std::unexpected<Error> InvalidValue(std::string_view name, std::string_view text) {
  return std::unexpected(
      InvalidArgument({}, "Invalid value for '" + std::string(name) + "': " + std::string(text)));
}

Result<std::optional<std::int64_t>> ReadInt(const Request& request, std::string_view name) {
  const std::string_view text = request.Query(name);
  if (text.empty()) return std::nullopt;
  if (const auto value = WholeNumber<std::int64_t>(text)) return value;
  return InvalidValue(name, text);
}

void AppendXmlText(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += byte < 0x20 ? ' ' : c;
    }
  }
}

}  // namespace

Result<Conditions> ReadConditions(const Request& request, bool source) {
  Conditions when;
  TY_TRY(when.generation, ReadInt(request, source ? "sourceGeneration" : "generation"));
  const std::string prefix = source ? "ifSource" : "if";
  TY_TRY(when.if_generation_match, ReadInt(request, prefix + "GenerationMatch"));
  TY_TRY(when.if_generation_not_match, ReadInt(request, prefix + "GenerationNotMatch"));
  TY_TRY(when.if_metageneration_match, ReadInt(request, prefix + "MetagenerationMatch"));
  TY_TRY(when.if_metageneration_not_match, ReadInt(request, prefix + "MetagenerationNotMatch"));
  if (source) return when;
  when.if_etag_match = std::string(request.headers.Get("If-Match"));
  when.if_etag_not_match = std::string(request.headers.Get("If-None-Match"));
  return when;
}

Result<bool> ReadBool(const Request& request, std::string_view name) {
  const std::string_view text = request.Query(name);
  if (text == "true" || text == "True" || text == "1") return true;
  if (text.empty() || text == "false" || text == "False" || text == "0") return false;
  return InvalidValue(name, text);
}

Result<std::size_t> ReadResultsMax(const Request& request) {
  TY_TRY(const auto value, ReadInt(request, "maxResults"));
  if (!value) return kResultsMax;
  if (*value < 1)
    return std::unexpected(InvalidArgument({}, "Invalid value for 'maxResults': it must be at least 1"));
  return std::min(static_cast<std::size_t>(*value), kResultsMax);
}

awaitable<Result<std::string>> ReadTextBody(Request& request) {
  if (request.body == nullptr) co_return std::string();
  co_return co_await request.body->ReadAll(kJsonBytesMax);
}

awaitable<Status> ReadJsonBody(Request& request, google::protobuf::Message& message) {
  TY_CO_TRY(const std::string text, co_await ReadTextBody(request));
  co_return wire::ParseJson(text, message);
}

void TakeQuery(const Request& request, v1::Object& resource) {
  resource.set_bucket(request.Parameter("bucket"));
  if (request.HasQuery("name")) resource.set_name(std::string(request.Query("name")));
  if (request.HasQuery("contentEncoding"))
    resource.set_content_encoding(std::string(request.Query("contentEncoding")));
  if (request.HasQuery("kmsKeyName")) resource.set_kms_key_name(std::string(request.Query("kmsKeyName")));
}

void TakeHashHeaders(const Request& request, v1::Object& resource) {
  const auto take = [&resource](std::string_view md5, std::string_view crc32c) {
    if (!md5.empty() && resource.md5_hash().empty()) resource.set_md5_hash(std::string(md5));
    if (!crc32c.empty() && resource.crc32c().empty()) resource.set_crc32c(std::string(crc32c));
  };
  for (const auto& [name, value] : request.headers.fields()) {
    if (!http::EqualsIgnoringCase(name, "x-goog-hash")) continue;
    http::ForEachElement(value, [&take](std::string_view element) {
      if (element.starts_with("md5=")) take(element.substr(4), {});
      if (element.starts_with("crc32c=")) take({}, element.substr(7));
    });
  }
  take(request.headers.Get("Content-MD5"), {});
}

awaitable<Result<std::string>> ReadPiece(http::BodyReader& body, std::size_t bytes_max) {
  std::string piece;
  std::size_t filled = 0;
  while (filled < bytes_max) {
    // Grows with the received bytes, so that a client that sends a few and waits uses no more memory than
    // those.
    if (filled == piece.size()) piece.resize(std::min(std::max(filled * 2, kFirstPieceBytes), bytes_max));
    const std::span<std::byte> space(reinterpret_cast<std::byte*>(piece.data()) + filled,
                                     piece.size() - filled);
    TY_CO_TRY(const std::size_t got, co_await body.ReadSome(space));
    if (got == 0) break;
    filled += got;
  }
  piece.resize(filled);
  co_return piece;
}

void AddLinks(const Request& request, v1::Object& object) {
  const std::string path = "/storage/v1/b/" + object.bucket() + "/o/" + text::PercentEncode(object.name());
  object.set_self_link(request.Origin() + path);
  object.set_media_link(request.Origin() + "/download" + path +
                        "?generation=" + std::to_string(object.generation()) + "&alt=media");
}

Response ObjectAnswer(const Request& request, v1::Object object) {
  AddLinks(request, object);
  Response response = JsonAnswer(object);
  response.headers.Set("ETag", object.etag());
  return response;
}

Response JsonAnswer(const google::protobuf::Message& message) {
  return Response::Json(wire::PrintJson(message));
}

Response ErrorAnswer(const Error& error) {
  if (storage::IsNotModified(error)) return Response::Empty(kNotModified);
  return Response::Json(wire::PrintStorageErrorBody(error), wire::StorageHttpStatus(error.code));
}

http::Response StatusAnswer(int status, std::string_view reason, std::string_view message) {
  const std::string text = wire::ReplaceMalformed(message);
  json::object first{{"message", text}, {"domain", "global"}, {"reason", reason}};
  json::object error{{"code", status}, {"message", text}};
  error["errors"] = json::array{std::move(first)};
  return http::Response::Json(wire::IndentJson(json::serialize(json::object{{"error", std::move(error)}})),
                              status);
}

std::string PrintXmlError(std::string_view code, std::string_view message, std::string_view details) {
  std::string body = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>";
  AppendXmlText(body, code);
  body += "</Code><Message>";
  AppendXmlText(body, wire::ReplaceMalformed(message));
  body += "</Message>";
  if (!details.empty()) {
    body += "<Details>";
    AppendXmlText(body, wire::ReplaceMalformed(details));
    body += "</Details>";
  }
  return body + "</Error>";
}

awaitable<Status> RequireOnBucket(const Request& request, std::string permission, std::string bucket) {
  iam::Resource resource = iam::Resource::Bucket(std::move(bucket));
  co_return co_await access::Require(request, std::move(permission), std::move(resource));
}

awaitable<bool> MayDelete(const Request& request, const std::string& bucket) {
  if (request.caller == nullptr) co_return true;
  const Status may = co_await RequireOnBucket(request, kDelete, bucket);
  co_return may.has_value();
}

awaitable<Result<Conditions>> ForWriter(Buckets& buckets, const Request& request, std::string bucket,
                                        Conditions when) {
  if (request.caller == nullptr) co_return when;
  const auto present = co_await buckets.GetBucket(bucket);
  if (!present && present.error().code == Code::kNotFound)
    co_return std::unexpected(iam::Absent(kCreate, iam::Resource::Bucket(std::move(bucket))));
  if (!present) co_return std::unexpected(present.error());
  const bool may_replace = co_await MayDelete(request, bucket);
  if (!may_replace) when.if_generation_match = 0;
  co_return when;
}

awaitable<Status> StillMayWrite(const Request& request, std::string bucket, bool may_replace) {
  TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, kCreate, bucket));
  if (may_replace) TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, kDelete, std::move(bucket)));
  co_return Status();
}

awaitable<Error> WriteError(const Request& request, std::string bucket, Conditions asked, Error error) {
  if (error.code != Code::kFailedPrecondition || asked.if_generation_match == 0) co_return error;
  if (request.caller == nullptr) co_return error;
  const Status may = co_await RequireOnBucket(request, kDelete, std::move(bucket));
  co_return may ? error : may.error();
}

}  // namespace trainyard::api::storage_api
