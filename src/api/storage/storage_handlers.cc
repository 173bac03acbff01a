#include "api/storage/storage_handlers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/storage/storage_handlers_request.h"
#include "base/wire/error_body.h"
#include "base/wire/field_selector.h"
#include "base/wire/json_tree.h"
#include "base/wire/runs_bucket.h"
#include "net/http/headers.h"
#include "net/http/text.h"
#include "rules/objects/conditions.h"
#include "stores/identity/identities.h"

namespace trainyard::api {

namespace {

using namespace storage_api;

/// A part of the API that this server does not support. Rejected with an error that names it, so that clients
/// do not assume that it took effect.
struct Unsupported {
  const char* pattern;  ///< below /storage/v1
  const char* what;
};
constexpr std::string_view kAcls =
    "Access control lists are not supported by this server: all buckets have uniform bucket-level access";
constexpr std::array kUnsupported{
    Unsupported{"/b/{bucket}/acl", kAcls.data()},
    Unsupported{"/b/{bucket}/acl/{entity}", kAcls.data()},
    Unsupported{"/b/{bucket}/defaultObjectAcl", kAcls.data()},
    Unsupported{"/b/{bucket}/defaultObjectAcl/{entity}", kAcls.data()},
    Unsupported{"/b/{bucket}/o/{object}/acl", kAcls.data()},
    Unsupported{"/b/{bucket}/o/{object}/acl/{entity}", kAcls.data()},
    Unsupported{"/b/{bucket}/o/{object}/iam",
                "Objects have no policy of their own on this server. Set the bucket's policy instead"},
    Unsupported{"/b/{bucket}/notificationConfigs", "Notifications are not supported by this server"},
    Unsupported{"/b/{bucket}/notificationConfigs/{id}", "Notifications are not supported by this server"},
    Unsupported{"/b/{bucket}/o/watch", "Notifications are not supported by this server"},
    Unsupported{"/channels/stop", "Notifications are not supported by this server"},
    Unsupported{"/b/{bucket}/anywhereCaches", "Caches are not supported by this server"},
    Unsupported{"/b/{bucket}/anywhereCaches/{id}", "Caches are not supported by this server"},
    Unsupported{"/b/{bucket}/anywhereCaches/{id}/{verb}", "Caches are not supported by this server"},
    Unsupported{"/b/{bucket}/folders",
                "Folders need a hierarchical namespace, which this server does not have"},
    Unsupported{"/b/{bucket}/folders/{rest=**}",
                "Folders need a hierarchical namespace, which this server does not have"},
    Unsupported{"/b/{bucket}/managedFolders", "Managed folders are not supported by this server"},
    Unsupported{"/b/{bucket}/managedFolders/{rest=**}", "Managed folders are not supported by this server"},
    Unsupported{"/b/{bucket}/lockRetentionPolicy", "Retention is not supported by this server"},
    Unsupported{"/b/{bucket}/relocate", "Buckets cannot be relocated on this server"},
    Unsupported{"/b/{bucket}/restore",
                "Soft delete is not supported by this server: deleted data cannot be restored"},
    Unsupported{"/b/{bucket}/o/bulkRestore",
                "Soft delete is not supported by this server: deleted data cannot be restored"},
    Unsupported{"/b/{bucket}/o/{object}/restore",
                "Soft delete is not supported by this server: deleted data cannot be restored"},
    Unsupported{"/projects/{project}/hmacKeys", "HMAC keys are not supported by this server"},
    Unsupported{"/projects/{project}/hmacKeys/{id}", "HMAC keys are not supported by this server"},
    Unsupported{"/projects/{project}/serviceAccount",
                "Cloud Storage service agents do not exist on this server"},
};

/// The requested form of the JSON answer: the part that `fields` selects, on one line with
/// `prettyPrint=false`. Names in `fields` that storage v1's resources do not have are ignored: clients ask
/// for fields newer than the discovery document. Pure: any thread. Source: discovery, the parameters of all
/// methods.
class AnswerForm {
 public:
  /// kInvalidArgument: `fields` is malformed. Called before the method runs, so that an error changes
  /// nothing.
  [[nodiscard]] static Result<AnswerForm> Read(const http::Request& request);

  /// Does not change errors and contents of objects.
  void Apply(http::Response& answer) const;

 private:
  std::optional<wire::FieldSelector> fields_;
  bool compact_ = false;
};

Result<AnswerForm> AnswerForm::Read(const http::Request& request) {
  AnswerForm form;
  form.compact_ = request.Query("prettyPrint") == "false";
  if (request.Query("fields").empty()) return form;
  auto selector = wire::FieldSelector::Parse(request.Query("fields"));
  if (!selector) {
    return std::unexpected(
        InvalidArgument("fields", "Invalid field selection " + std::string(request.Query("fields"))));
  }
  form.fields_ = *std::move(selector);
  return form;
}

void AnswerForm::Apply(http::Response& answer) const {
  constexpr int kFirstError = 300;
  auto* body = std::get_if<std::string>(&answer.body);
  const bool is_json = answer.headers.Get("Content-Type").starts_with("application/json");
  if (body == nullptr || body->empty() || !is_json || answer.status >= kFirstError) return;
  if (fields_) *body = fields_->Apply(*body);
  if (compact_) *body = wire::CompactJson(*body);
}

Status CheckHeaders(const Request& request) {
  for (const char* name : {"x-goog-encryption-algorithm", "x-goog-copy-source-encryption-algorithm"}) {
    if (!request.headers.Has(name)) continue;
    return std::unexpected(
        InvalidArgument({}, "Customer-supplied encryption keys are not supported by this server"));
  }
  return {};
}

/// A client that derived the bucket's name from a project sends the project, because anybody could have taken
/// the name. A bucket of another project is reported as absent. Without authentication, buckets have no
/// projects.
Status CheckProject(const Identities& identities, const Request& request) {
  const std::string_view project = request.headers.Get(wire::kBucketProjectField);
  if (project.empty() || request.caller == nullptr) return {};
  const auto is_bucket = [](const auto& parameter) { return parameter.first == "bucket"; };
  const auto bucket = std::ranges::find_if(request.parameters, is_bucket);
  if (bucket == request.parameters.end() || identities.ProjectOf(bucket->second) == project) return {};
  return std::unexpected(
      InvalidArgument({}, "gs://" + bucket->second + " is no bucket of project " + std::string(project)));
}

/// Storage's errors look different from those of the other APIs. `function` is called with the request.
awaitable<Result<Response>> Answer(const Identities& identities, const http::Handler& function,
                                   Request& request) {
  if (const Status checked = CheckHeaders(request); !checked) co_return ErrorAnswer(checked.error());
  if (const Status checked = CheckProject(identities, request); !checked)
    co_return ErrorAnswer(checked.error());
  const auto form = AnswerForm::Read(request);
  if (!form) co_return ErrorAnswer(form.error());
  Result<Response> response = co_await function(request);
  if (!response) co_return ErrorAnswer(response.error());
  form->Apply(*response);
  co_return response;
}

}  // namespace

http::Handler InStorageForm(const Identities& identities, http::Handler function) {
  return [&identities, function = std::move(function)](Request& request) {
    return Answer(identities, function, request);
  };
}

void AddStorageRefusals(http::Router& router) {
  std::map<std::string, std::set<std::string_view>, std::less<>> added;
  // Refuses all methods of the pattern that have no handler yet.
  const auto refuse_rest = [&](const std::string& pattern, const Error& error) {
    for (const std::string_view verb : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
      if (!added[pattern].insert(verb).second) continue;
      router.AddRefusal(std::string(verb) + " " + pattern,
                        [error](Request&) { return ReplyOf(ErrorAnswer(error)); });
    }
  };
  for (const Route& row : StorageRoutes()) {
    if (row.form.kind != Form::Kind::kStorage) continue;
    const std::size_t blank = row.rule.route.find(' ');
    added[std::string(row.rule.route.substr(blank + 1))].insert(row.rule.route.substr(0, blank));
  }
  for (const Unsupported& unsupported : kUnsupported)
    refuse_rest("/storage/v1" + std::string(unsupported.pattern), InvalidArgument({}, unsupported.what));
  const auto patterns = added;
  for (const auto& [pattern, methods] : patterns)
    refuse_rest(pattern, Error{Code::kUnimplemented, "The method is not allowed for this resource", {}});
  for (const char* prefix :
       {"/storage/v1", "/upload/storage/v1", "/resumable/upload/storage/v1", "/download/storage/v1"})
    refuse_rest(prefix + std::string("/{rest=**}"), NotFound("Not Found"));
}

namespace {

constexpr int kRangeNotSatisfiable = 416;

std::string_view XmlCode(const Error& error) {
  switch (error.code) {
    case Code::kNotFound:
      return error.message.starts_with("The specified bucket") ? "NoSuchBucket" : "NoSuchKey";
    case Code::kFailedPrecondition: return "PreconditionFailed";
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kPermissionDenied: return "AccessDenied";
    case Code::kUnauthenticated: return "AuthenticationRequired";
    case Code::kUnavailable: return "ServiceUnavailable";
    default: return "InternalError";
  }
}

/// Empty: use the error's own message.
std::string_view XmlMessage(Code code) {
  if (code == Code::kUnauthenticated) return "Authentication required.";
  return code == Code::kPermissionDenied ? "Access denied." : std::string_view();
}

Response XmlAnswer(int status, std::string_view code, std::string_view message,
                   std::string_view details = {}) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  http::ConfineContent(response.headers);
  response.body = PrintXmlError(code, message, details);
  return response;
}

/// The XML API's conditions are header fields.
Result<Conditions> ReadXmlConditions(const Request& request) {
  TY_TRY(Conditions when, ReadConditions(request));
  for (const auto& [name, condition] :
       {std::pair("x-goog-if-generation-match", &Conditions::if_generation_match),
        std::pair("x-goog-if-metageneration-match", &Conditions::if_metageneration_match)}) {
    if (!request.headers.Has(name)) continue;
    const auto number = http::ParseDecimal(request.headers.Get(name));
    if (!number) return std::unexpected(InvalidArgument({}, std::string("Invalid value for '") + name + "'"));
    when.*condition = static_cast<std::int64_t>(*number);
  }
  return when;
}

awaitable<Result<Response>> Read(Buckets& buckets, Request& request) {
  TY_CO_TRY(Conditions when, ReadXmlConditions(request));
  co_return co_await ReadMedia(buckets, request, request.Parameter("bucket"), request.Parameter("object"),
                               std::move(when));
}

}  // namespace

Response XmlErrorAnswer(const Error& error) {
  const int status = wire::StorageHttpStatus(error.code);
  const std::string_view message = XmlMessage(error.code);
  if (message.empty()) return XmlAnswer(status, XmlCode(error), error.message);
  return XmlAnswer(status, XmlCode(error), message, error.message);
}

awaitable<Result<Response>> GetXmlObject(Buckets& buckets, Request& request) {
  Result<Response> response = co_await Read(buckets, request);
  if (response && response->status == kRangeNotSatisfiable) {
    const std::string range(response->headers.Get("Content-Range"));
    response = XmlAnswer(kRangeNotSatisfiable, "InvalidRange", "The requested range cannot be satisfied.");
    response->headers.Add("Content-Range", range);
  }
  if (response) co_return response;
  const Error& error = response.error();
  if (storage::IsNotModified(error)) co_return Response::Empty(kNotModified);
  co_return XmlErrorAnswer(error);
}

}  // namespace trainyard::api
