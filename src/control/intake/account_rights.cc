#include "control/intake/account_rights.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "rules/iam/principal.h"
#include "rules/iam/refusal.h"

namespace trainyard::control {

namespace {

constexpr std::string_view kReader = "roles/storage.objectViewer";
constexpr std::string_view kWriter = "roles/storage.objectAdmin";
/// The permissions that a program needs to read and write below /gcs (stores/storage/bucket_rights.h).
constexpr std::array<std::string_view, 4> kToWrite{"storage.objects.get", "storage.objects.list",
                                                   "storage.objects.create", "storage.objects.delete"};

std::string HowToGive(const std::string& email, std::string_view role, const std::string& bucket) {
  return " An administrator gives it that right with: " +
         iam::BindingCommand(iam::ServiceAccountPrincipal(email), role, iam::Resource::Bucket(bucket));
}

/// "gcloud iam service-accounts create trainer --project=p" for trainer@p.iam.gserviceaccount.com.
std::string HowToCreate(const std::string& email) {
  constexpr std::string_view kDomain = ".iam.gserviceaccount.com";
  const std::size_t at = email.find('@');
  if (at == std::string::npos || !email.ends_with(kDomain)) return "";
  const std::string project = email.substr(at + 1, email.size() - at - 1 - kDomain.size());
  return " Create it with: gcloud iam service-accounts create " + email.substr(0, at) +
         " --project=" + project;
}

}  // namespace

Status CheckAccountExists(const Accounts& accounts, const std::string& email) {
  if (!accounts.exists || accounts.exists(email)) return {};
  Error error = NotFound("Unknown service account: " + email + "." + HowToCreate(email));
  error.field = "service_account";
  return std::unexpected(std::move(error));
}

Status CheckAccountReads(const Accounts& accounts, const std::string& email, const std::string& uri,
                         const std::string& bucket, const std::string& field) {
  if (!accounts.may || accounts.may(email, "storage.objects.get", iam::Resource::Bucket(bucket))) return {};
  return std::unexpected(FailedPrecondition("The provided GCS paths [" + uri +
                                                "] cannot be read by service account " + email + "." +
                                                HowToGive(email, kReader, bucket),
                                            field));
}

Status CheckAccountWrites(const Accounts& accounts, const std::string& email, const std::string& bucket,
                          const iam::Resource& resource) {
  const auto may = [&](std::string_view permission) { return accounts.may(email, permission, resource); };
  if (!accounts.may || std::ranges::all_of(kToWrite, may)) return {};
  return std::unexpected(FailedPrecondition("The job's programs run as the service account " + email +
                                                ", which may not read and write objects of gs://" + bucket +
                                                "." + HowToGive(email, kWriter, bucket),
                                            "job_dir"));
}

}  // namespace trainyard::control
