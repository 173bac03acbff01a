#include "control/run/job_room.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "control/run/manifest.h"

namespace trainyard::control {

namespace {

/// The grant as its engine made it.
engine::Grant GrantOf(const v1::JobRecord& job) {
  engine::Grant grant;
  grant.set_try_number(job.try_number());
  for (const v1::ReplicaRecord& replica : job.replicas()) *grant.add_slots() = replica.slot();
  return grant;
}

}  // namespace

JobRoom::~JobRoom() {
  if (is_stored_)
    outside_.admissions.Detach(Key(seen_.asked_try));
  else
    GiveUp(seen_.asked_try);
}

void JobRoom::Ask(int try_number) { Reserve(try_number, std::nullopt); }

bool JobRoom::AskEarly() {
  const std::vector<jobs::Action> actions = jobs::NextActions(job_, seen_, outside_.clock.Now());
  for (const jobs::Action& action : actions) {
    const auto* reserve = std::get_if<jobs::ReserveRoom>(&action);
    if (reserve == nullptr || !outside_.admissions.ForgetsWithServer(GangOf(job_))) continue;
    Ask(reserve->try_number);
    return true;
  }
  return false;
}

void JobRoom::Keep() {
  is_stored_ = true;
  if (job_.reserved() && seen_.asked_try != job_.try_number()) Reserve(job_.try_number(), GrantOf(job_));
}

void JobRoom::Reserve(int try_number, std::optional<engine::Grant> granted) {
  const int former_try = std::exchange(seen_.asked_try, try_number);
  if (former_try != try_number) GiveUp(former_try);
  auto on_grant = [this](engine::Grant grant) {
    if (outside_.hooks.runtime_for) seen_.runtime_version = outside_.hooks.runtime_for(job_, grant);
    seen_.grant = std::move(grant);
    wake_.Set();
  };
  auto on_revoked = [this, try_number](engine::Revocation revocation) {
    seen_.taken_back = {
        .try_number = try_number, .kind = revocation.kind, .reason = std::move(revocation.reason)};
    wake_.Set();
  };
  auto answer = outside_.admissions.Reserve(
      {.key = Key(try_number), .gang = GangOf(job_), .granted = std::move(granted)},
      {.on_grant = on_grant, .on_wait = [this] { wake_.Set(); }, .on_revoked = on_revoked});
  if (auto* grant = std::get_if<engine::Grant>(&answer)) on_grant(std::move(*grant));
}

/// Releases the resources of an earlier try, which were revoked, once its replicas have ended.
void JobRoom::GiveUp(int former_try) {
  if (former_try == 0) return;
  outside_.admissions.Release(Key(former_try));
  outside_.admissions.Prove(Key(former_try));
}

}  // namespace trainyard::control
