#pragma once

#include <string>

namespace trainyard::iam {

/// A resource that permissions apply to. A policy on a resource is inherited by all resources below it:
/// projects are below the installation; jobs, buckets and service accounts are below their project. Objects,
/// uploads, logs, trials and studies have no policies; the policy of their bucket, job or project applies.
struct Resource {
  enum class Kind { kInstallation, kProject, kJob, kBucket, kServiceAccount };

  Kind kind = Kind::kInstallation;
  std::string project{};  ///< for a bucket: empty if not known yet (Authority fills it in)
  std::string name{};     ///< job id, bucket name, e-mail of the service account; else empty

  [[nodiscard]] static Resource Installation() { return {}; }
  [[nodiscard]] static Resource Project(std::string project) {
    return {.kind = Kind::kProject, .project = std::move(project)};
  }
  [[nodiscard]] static Resource Job(std::string project, std::string job) {
    return {.kind = Kind::kJob, .project = std::move(project), .name = std::move(job)};
  }
  [[nodiscard]] static Resource Bucket(std::string bucket) {
    return {.kind = Kind::kBucket, .project = {}, .name = std::move(bucket)};
  }
  [[nodiscard]] static Resource ServiceAccount(std::string project, std::string email) {
    return {.kind = Kind::kServiceAccount, .project = std::move(project), .name = std::move(email)};
  }
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// The name in Cloud Audit Logs and error details: "projects/P", "projects/P/jobs/J", "projects/_/buckets/B",
/// "projects/P/serviceAccounts/E", "trainyard" for the installation. Pure.
[[nodiscard]] inline std::string NameOf(const Resource& resource) {
  switch (resource.kind) {
    case Resource::Kind::kInstallation: return "trainyard";
    case Resource::Kind::kProject: return "projects/" + resource.project;
    case Resource::Kind::kJob: return "projects/" + resource.project + "/jobs/" + resource.name;
    case Resource::Kind::kBucket: return "projects/_/buckets/" + resource.name;
    case Resource::Kind::kServiceAccount:
      return "projects/" + resource.project + "/serviceAccounts/" + resource.name;
  }
  return {};
}

}  // namespace trainyard::iam
