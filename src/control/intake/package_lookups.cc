#include "control/intake/package_lookups.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/wire/resource_name.h"
#include "control/intake/account_rights.h"
#include "rules/cluster/role.h"
#include "rules/cluster/role_packages.h"

namespace trainyard::control {

namespace {

using boost::asio::awaitable;

struct NamedPackage {
  std::string uri;
  std::string field;  ///< that names it
};

awaitable<Status> LookUpPackage(PackageSources sources, const v1::JobRecord& record, NamedPackage named,
                                const Creator& creator, cluster::Packages& packages) {
  TY_CO_TRY(wire::ObjectUri name, wire::ObjectUri::Parse(named.uri));
  iam::Resource bucket = iam::Resource::Bucket(name.bucket);
  TY_CO_RETURN_IF_ERROR(co_await creator.Require("storage.objects.get", std::move(bucket), named.field));
  const std::string& account = record.job().training_input().service_account();
  if (creator.require && !account.empty())
    TY_CO_RETURN_IF_ERROR(CheckAccountReads(sources.accounts, account, named.uri, name.bucket, named.field));
  auto object = co_await storage::Sha256Of(sources.buckets, name.bucket, name.object);
  if (!object && object.error().code != Code::kNotFound) co_return std::unexpected(object.error());
  if (!object) {
    co_return std::unexpected(
        FailedPrecondition("The provided GCS paths [" + named.uri + "] cannot be read by service account " +
                               cluster::ServiceAccount(sources.number_of(record.project())) + ". " +
                               object.error().message + ". Upload the package first.",
                           named.field));
  }
  replica::v1::Manifest::Package& package = *packages.Add();
  package.set_uri(named.uri);
  package.set_checksum(*std::move(object));
  co_return Status{};
}

bool HasReplicas(const v1::JobRecord& record, replica::v1::TaskType role) {
  return std::ranges::any_of(
      record.replicas(), [role](const v1::ReplicaRecord& replica) { return replica.id().type() == role; });
}

}  // namespace

awaitable<Status> LookUpPackages(PackageSources sources, v1::JobRecord& record, const Creator& creator,
                                 std::function<Status(Status)> found) {
  const ml::v1::TrainingInput& input = record.job().training_input();
  for (const std::string& uri : input.package_uris()) {
    NamedPackage named{.uri = uri, .field = "package_uris"};
    TY_CO_RETURN_IF_ERROR(found(
        co_await LookUpPackage(sources, record, std::move(named), creator, *record.mutable_packages())));
  }
  for (const cluster::Role& role : cluster::Roles(input)) {
    if (role.config.package_uris().empty() || !HasReplicas(record, role.type)) continue;
    v1::RolePackages& own = *record.add_role_packages();
    own.set_type(role.type);
    for (const std::string& uri : role.config.package_uris()) {
      NamedPackage named{.uri = uri, .field = std::string(role.field) + "_config.package_uris"};
      TY_CO_RETURN_IF_ERROR(
          found(co_await LookUpPackage(sources, record, std::move(named), creator, *own.mutable_packages())));
    }
  }
  co_return Status{};
}

}  // namespace trainyard::control
