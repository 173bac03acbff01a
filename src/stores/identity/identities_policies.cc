#include "stores/identity/bucket_projects.h"
#include "stores/identity/directory.h"
#include "stores/identity/identities_state.h"
#include "stores/identity/policy_changes.h"

namespace trainyard::identity {

using boost::asio::awaitable;

iam::v1::Policy Identities::Policy(const iam::Resource& resource) const {
  return PolicyOf(state_->directory, resource);
}

awaitable<Result<iam::v1::Policy>> Identities::SetPolicy(iam::Resource resource,
                                                         iam::v1::SetIamPolicyRequest request,
                                                         StillMay still_may) {
  auto decide = state_->By(PolicySet, std::move(resource), std::move(request), RandomEtag());
  TY_CO_TRY(const AccessChange change, co_await state_->Change(std::move(decide), std::move(still_may)));
  co_return change.policies.front().policy;
}

awaitable<Status> Identities::AddBinding(iam::Resource resource, std::string role, std::string member,
                                         StillMay still_may) {
  auto decide =
      state_->By(BindingAdded, std::move(resource), std::move(role), std::move(member), RandomEtag());
  return state_->Do(std::move(decide), std::move(still_may));
}

bool Identities::Grants(std::string_view principal, std::string_view permission,
                        const iam::Resource& resource) const {
  return identity::Grants(state_->directory, principal, permission, resource);
}

bool Identities::Knows(std::string_view principal, const iam::Resource& resource) const {
  return identity::Knows(state_->directory, principal, resource);
}

bool Identities::HasBasicRole(std::string_view principal, std::string_view role,
                              std::string_view project) const {
  return identity::HasBasicRole(state_->directory, principal, role, project);
}

const std::string& Identities::default_project() const noexcept {
  return state_->directory.default_project();
}

std::string Identities::ProjectOf(std::string_view bucket) const {
  return state_->directory.bucket_projects()->Of(bucket);
}

std::shared_ptr<const BucketProjects> Identities::bucket_projects() const {
  return state_->directory.bucket_projects();
}

awaitable<Status> Identities::SetBucketProject(std::string bucket, std::string project) {
  IdentitiesState* state = state_.get();
  auto decide = [bucket = std::move(bucket), project = std::move(project)]() -> Result<AccessChange> {
    AccessChange change;
    change.buckets.push_back({.bucket = bucket, .project = project});
    return change;
  };
  return state->Do(std::move(decide));
}

awaitable<Status> Identities::ForgetBucket(std::string bucket) {
  IdentitiesState* state = state_.get();
  auto decide = [bucket = std::move(bucket)]() -> Result<AccessChange> {
    AccessChange change;
    change.policies_dropped.push_back(iam::Resource::Bucket(bucket));
    change.buckets_dropped.push_back(bucket);
    return change;
  };
  return state->Do(std::move(decide));
}

std::int64_t Identities::NumberOf(std::string_view project) { return state_->NumberOf(project); }

std::int64_t Identities::ShownNumber(std::string_view project) { return state_->ShownNumber(project); }

std::vector<std::string> Identities::Projects() const {
  const auto& projects = state_->directory.projects();
  return {projects.begin(), projects.end()};
}

}  // namespace trainyard::identity
