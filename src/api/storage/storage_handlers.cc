#include "api/storage/storage_handlers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/storage/storage_handlers_partial.h"
#include "api/storage/storage_handlers_routes.h"
#include "api/storage/storage_policy_handlers.h"
#include "base/wire/runs_bucket.h"
#include "stores/identity/identities.h"

namespace trainyard::api {
namespace {

using namespace storage_api;
using http::Method;

using Function = awaitable<Result<Response>> (*)(Buckets& buckets, Request& request);
using OwnedFunction = awaitable<Result<Response>> (*)(Buckets& buckets, Identities& identities,
                                                      Request& request);

/// A part of the API that this server does not have. Rejected with an error that names it, so that clients do
/// not assume that it took effect.
struct Unsupported {
  const char* pattern;  ///< below /storage/v1
  const char* what;
};
constexpr std::string_view kAcls =
    "Access control lists are not supported by this server: as in a bucket with uniform bucket-level access, "
    "there are none";
constexpr std::array kUnsupported{
    Unsupported{"/b/{bucket}/acl", kAcls.data()},
    Unsupported{"/b/{bucket}/acl/{entity}", kAcls.data()},
    Unsupported{"/b/{bucket}/defaultObjectAcl", kAcls.data()},
    Unsupported{"/b/{bucket}/defaultObjectAcl/{entity}", kAcls.data()},
    Unsupported{"/b/{bucket}/o/{object}/acl", kAcls.data()},
    Unsupported{"/b/{bucket}/o/{object}/acl/{entity}", kAcls.data()},
    Unsupported{"/b/{bucket}/o/{object}/iam", "Objects have no policies of their own here: set the bucket's"},
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
    Unsupported{"/b/{bucket}/relocate", "Buckets cannot be moved to another place on this server"},
    Unsupported{"/b/{bucket}/restore",
                "Soft delete is not supported by this server: what is deleted is gone"},
    Unsupported{"/b/{bucket}/o/bulkRestore",
                "Soft delete is not supported by this server: what is deleted is gone"},
    Unsupported{"/b/{bucket}/o/{object}/restore",
                "Soft delete is not supported by this server: what is deleted is gone"},
    Unsupported{"/projects/{project}/hmacKeys", "HMAC keys are not supported by this server"},
    Unsupported{"/projects/{project}/hmacKeys/{id}", "HMAC keys are not supported by this server"},
    Unsupported{"/projects/{project}/serviceAccount",
                "Cloud Storage service agents do not exist on this server"},
};

constexpr std::array kMethods{Method::kGet, Method::kPost, Method::kPut, Method::kPatch, Method::kDelete};

Status CheckHeaders(const Request& request) {
  for (const char* name : {"x-goog-encryption-algorithm", "x-goog-copy-source-encryption-algorithm"}) {
    if (!request.headers.Has(name)) continue;
    return std::unexpected(
        InvalidArgument({}, "Customer-supplied encryption keys are not supported by this server"));
  }
  return {};
}

/// A client that derived the bucket's name from a project says which, for names are anybody's. A foreign
/// bucket gets the words of an absent one. Where nobody is asked who they are, buckets have no projects.
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
template <class Call>
awaitable<Result<Response>> Answer(const Identities& identities, Call function, Request& request) {
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

awaitable<Result<Response>> Refuse(Error error) { co_return ErrorAnswer(error); }

/// Adds routes and, for all other methods of their paths, an error in storage's shape.
class Routes {
 public:
  Routes(http::Router& router, Buckets& buckets, Identities& identities)
      : router_(router), buckets_(buckets), identities_(identities) {}

  void Add(Method method, const std::string& pattern, Function function) {
    AddCall(method, pattern,
            [&buckets = buckets_, function](Request& request) { return function(buckets, request); });
  }
  void Add(Method method, const std::string& pattern, OwnedFunction function) {
    AddCall(method, pattern, [&buckets = buckets_, &identities = identities_, function](Request& request) {
      return function(buckets, identities, request);
    });
  }
  /// All methods of the pattern that have no handler yet.
  void RefuseRest(const std::string& pattern, const Error& error) {
    for (const Method method : kMethods) {
      if (!added_[pattern].insert(method).second) continue;
      router_.AddRefusal(method, pattern, [error](Request&) { return Refuse(error); });
    }
  }
  void RefuseOtherMethods() {
    const auto patterns = added_;
    for (const auto& [pattern, methods] : patterns) {
      RefuseRest(pattern, Error{Code::kUnimplemented, "The method is not allowed for this resource", {}});
    }
  }

 private:
  template <class Call>
  void AddCall(Method method, const std::string& pattern, Call call) {
    router_.Add(method, pattern, [call, &identities = identities_](Request& request) {
      return Answer(identities, call, request);
    });
    added_[pattern].insert(method);
  }

  http::Router& router_;
  Buckets& buckets_;
  Identities& identities_;
  std::map<std::string, std::set<Method>> added_;
};

void AddBuckets(Routes& routes) {
  const std::string all = "/storage/v1/b";
  const std::string bucket = all + "/{bucket}";
  routes.Add(Method::kPost, all, InsertOwnedBucket);
  routes.Add(Method::kGet, all, ListOwnedBuckets);
  routes.Add(Method::kGet, bucket, GetBucket);
  routes.Add(Method::kPatch, bucket, PatchBucket);
  routes.Add(Method::kPut, bucket, UpdateBucket);
  routes.Add(Method::kDelete, bucket, DeleteOwnedBucket);
  routes.Add(Method::kGet, bucket + "/storageLayout", GetStorageLayout);
  for (const char* collection :
       {"/folders", "/managedFolders", "/notificationConfigs", "/anywhereCaches", "/operations"}) {
    routes.Add(Method::kGet, bucket + collection, ListNothing);
  }
  for (const std::string& resource : {bucket, bucket + "/o/{object}"}) {
    routes.Add(Method::kGet, resource + "/iam", GetBucketPolicy);
    routes.Add(Method::kGet, resource + "/iam/testPermissions", TestBucketPermissions);
  }
  routes.Add(Method::kPut, bucket + "/iam", SetBucketPolicy);
}

void AddObjects(Routes& routes) {
  const std::string bucket = "/storage/v1/b/{bucket}";
  const std::string object = bucket + "/o/{object}";
  routes.Add(Method::kGet, bucket + "/o", ListObjects);
  routes.Add(Method::kGet, object, GetObject);
  routes.Add(Method::kDelete, object, DeleteObject);
  routes.Add(Method::kPatch, object, PatchObject);
  routes.Add(Method::kPut, object, UpdateObject);
  routes.Add(Method::kPost, object + "/compose", ComposeObject);
  routes.Add(Method::kPost, object + "/copyTo/b/{to_bucket}/o/{to_object}", CopyObject);
  routes.Add(Method::kPost, object + "/rewriteTo/b/{to_bucket}/o/{to_object}", RewriteObject);
  routes.Add(Method::kPost, object + "/moveTo/o/{to_object}", MoveObject);
  routes.Add(Method::kGet, "/download" + object, GetMedia);
  for (const char* prefix : {"/upload", "/resumable/upload"}) {
    const std::string upload = prefix + bucket + "/o";
    routes.Add(Method::kPost, upload, InsertObject);
    routes.Add(Method::kPut, upload, ContinueUpload);
    routes.Add(Method::kDelete, upload, CancelUpload);
  }
}

}  // namespace

void AddStorageRoutes(http::Router& router, storage::Buckets& buckets, identity::Identities& identities) {
  Routes routes(router, buckets, identities);
  AddBuckets(routes);
  AddObjects(routes);
  for (const Unsupported& unsupported : kUnsupported) {
    routes.RefuseRest("/storage/v1" + std::string(unsupported.pattern),
                      InvalidArgument({}, unsupported.what));
  }
  routes.RefuseOtherMethods();
  for (const char* prefix :
       {"/storage/v1", "/upload/storage/v1", "/resumable/upload/storage/v1", "/download/storage/v1"}) {
    routes.RefuseRest(prefix + std::string("/{rest=**}"), NotFound("Not Found"));
  }
}

}  // namespace trainyard::api
