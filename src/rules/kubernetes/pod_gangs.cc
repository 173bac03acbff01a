#include "rules/kubernetes/pod_gangs.h"

#include <algorithm>
#include <functional>

namespace trainyard::kubernetes {

namespace {

using placement::Shortage;
using std::chrono::milliseconds;

Shortage BeingCreated() {
  return {.reason = "Its pods are being created.",
          .unblock = "It starts when the cluster has room for them."};
}

Shortage WaitsForTurn() {
  return {.reason = "Another job's pods are being placed; its own are created after that.",
          .unblock = "It starts when it has its turn and the cluster has room."};
}

Shortage StillEnding() {
  return {.reason = "The cluster still ends what the job had there before.",
          .unblock = "Its pods are created once nothing of that is left."};
}

Shortage NoAnswer(const std::string& words) {
  return {.reason = words, .unblock = "It starts once the API server is back."};
}

PlacingTurns::Place PlaceOf(const PodGang& gang) {
  return {
      .line = gang.line, .priority = gang.priority, .since = gang.since, .is_single = !gang.takes_turns()};
}

bool Waits(const PodGang& gang) {
  return gang.stage != PodStage::kGranted && (gang.stage != PodStage::kEnding || gang.wanted_again);
}

placement::Wait WaitOfOne(const PodGang& gang, const std::optional<std::string>& no_answer) {
  const bool is_in_line = gang.stage == PodStage::kWaiting && !gang.due && gang.number == 0;
  if (!is_in_line && !no_answer) return gang.wait;
  const Shortage words = no_answer ? NoAnswer(*no_answer) : WaitsForTurn();
  return {.reason = words.reason, .unblock = words.unblock, .is_turn = !no_answer};
}

/// The gang is wanted again.
void ForgetEnd(PodGang& gang) {
  gang.released = gang.wanted_again = gang.had_room = gang.at_time_limit = false;
  gang.lives = true;
  gang.may_live_until.reset();
}

/// No request to create it is under way: lists that are requested from now on have what exists.
void SetAnswered(PodGang& gang, SysTime now) {
  gang.is_answered = true;
  gang.created = now;
}

/// The same names are asked for again: what exists already answers that it does.
void ExpectAnswer(PodGang& gang) {
  gang.is_answered = false;
  gang.created.reset();
  gang.gone.clear();
}

/// What a new gang begins with.
void Fill(PodGang& gang, WantedPods wanted, SysTime now) {
  gang.number = wanted.last_submission;
  gang.had_room = wanted.granted || wanted.may_have_run;
  // Without a grant it gets its resources once its agents have connected to this server.
  if (wanted.granted) gang.attached = std::move(wanted.attached);
  gang.since = now;
  gang.wait = {.reason = BeingCreated().reason, .unblock = BeingCreated().unblock};
  // Made by a previous server: the next list says what is there of it.
  if (gang.number > 0) gang.created = SysTime();
}

/// The gang before its next submission is created: nothing is known of its pods.
void ForgetPods(PodGang& gang) {
  gang.pods.clear();
  gang.gone.clear();
  gang.attached.clear();
  gang.all_placed.reset();
  gang.all_run.reset();
  gang.created.reset();
  gang.removed.reset();
  gang.scales_up = gang.asked_for_scale_up = gang.is_answered = gang.is_removed = false;
}

/// Between a quarter of a turn and one and a quarter: two servers whose gangs hold each other up give way at
/// different times.
milliseconds PauseAfter(milliseconds turn, const std::string& secret_name) {
  const std::size_t seed = std::hash<std::string>()(secret_name);
  return turn / 4 +
         milliseconds(static_cast<milliseconds::rep>(seed % static_cast<std::size_t>(turn.count() + 1)));
}

}  // namespace

// --- the table

void PodGangs::LeaveLine(const GangKey& key, const PodGang& gang) {
  turns_.Leave(key, PlaceOf(gang));
  over_quota_.Remove(key, gang.priority);
}

/// What the API server's silence means for each is said by WaitOf.
void PodGangs::SayToAll() {
  for (const auto& [key, gang] : gangs_.all())
    if (Waits(gang)) actions_.emplace_back(placement::SayWait{key});
}

void PodGangs::Say(const GangKey& key, PodGang& gang, Shortage words) {
  placement::Wait wait{
      .reason = std::move(words.reason), .unblock = std::move(words.unblock), .never = words.never};
  if (wait == gang.wait) return;
  gang.wait = std::move(wait);
  actions_.emplace_back(placement::SayWait{key});
}

void PodGangs::Erase(const GangKey& key) {
  LeaveLine(key, gangs_.all().at(key));
  to_look_at_.erase(key);
  gangs_.Erase(key);
  actions_.emplace_back(placement::Forget{key});
}

// --- requests

void PodGangs::Want(WantedPods wanted, SysTime now) {
  const GangKey key = wanted.key;
  const auto [place, is_new] = gangs_.all().try_emplace(key);
  PodGang& gang = place->second;
  if (!is_new && (!gang.released || std::exchange(gang.wanted_again, true))) return;
  if (!is_new) LeaveLine(key, gang);
  gang.slots = wanted.slots;
  gang.priority = wanted.priority;
  gang.line = std::move(wanted.line);
  if (!is_new) return Say(key, gang, StillEnding());
  const bool granted = wanted.granted;
  Fill(gang, std::move(wanted), now);
  if (gang.number == 0) return turns_.Wait(key, PlaceOf(gang));
  gangs_.Enter(key, gang, granted ? PodStage::kGranted : PodStage::kPlacing, now);
  if (gang.stage == PodStage::kPlacing) turns_.Take(key, PlaceOf(gang));
  to_look_at_.insert(key);
}

void PodGangs::Release(const GangKey& key, SysTime now) {
  const auto found = gangs_.all().find(key);
  if (found == gangs_.all().end()) return;
  PodGang& gang = found->second;
  gang.wanted_again = false;
  if (gang.released) return;
  gang.released = true;
  if (gang.number == 0) return Erase(key);
  to_look_at_.insert(key);
  if (gang.stage == PodStage::kEnding) return;
  if (gang.stage != PodStage::kWaiting) actions_.emplace_back(placement::VoidTicket{{key, gang.number}});
  const bool leaves = gang.stage == PodStage::kGranted;
  LeaveLine(key, gang);
  gangs_.Enter(key, gang, PodStage::kEnding, now);
  if (leaves) gang.may_live_until = now + kLeaveMax;
}

void PodGangs::BeginAnew(const GangKey& key, PodGang& gang, SysTime now) {
  ForgetEnd(gang);
  gangs_.Enter(key, gang, PodStage::kWaiting, now);
  turns_.Wait(key, PlaceOf(gang));
  Say(key, gang, BeingCreated());
}

// --- creation

void PodGangs::CreateSome(SysTime now) {
  if (!is_listed_ || no_answer_) return;
  for (const GangKey& key : turns_.Next(kCreatingMax)) {
    if (gangs_.creating() >= kCreatingMax) return;
    PodGang& gang = gangs_.all().at(key);
    turns_.Take(key, PlaceOf(gang));
    ++gang.number;
    ForgetPods(gang);
    gangs_.Enter(key, gang, PodStage::kCreating, now);
    Say(key, gang, BeingCreated());
    actions_.emplace_back(Create{{key, gang.number}});
  }
}

void PodGangs::OnCreated(const Submission& submission, SysTime now) {
  PodGang* gang = gangs_.Find(submission);
  if (gang == nullptr) return actions_.push_back(Remove{submission});
  SetAnswered(*gang, now);
  to_look_at_.insert(submission.gang);
  if (gang->stage != PodStage::kCreating) return;
  gang->over_quota = false;
  gangs_.Enter(submission.gang, *gang, PodStage::kPlacing, now);
}

void PodGangs::OnNotCreated(const Submission& submission, NotCreated why, Shortage words, SysTime now) {
  const GangKey& key = submission.gang;
  PodGang* gang = gangs_.Find(submission);
  if (gang == nullptr) return actions_.push_back(Remove{submission});
  SetAnswered(*gang, now);
  to_look_at_.insert(key);
  if (gang->stage != PodStage::kCreating) return;
  if (why == NotCreated::kNoAnswer && now < gang->since + limits_.turn) {
    Say(key, *gang, std::move(words));
    gangs_.SetDue(key, *gang, now + gang->pause);
    gang->pause = std::min(2 * gang->pause, kCreatePauseMax);
    return;
  }
  gang->over_quota = why == NotCreated::kLater;
  CreateAgain(key, *gang, std::move(words), now,
              gang->over_quota ? over_quota_.PauseOf(gang->pause) : gang->pause);
}

void PodGangs::CreateAgain(const GangKey& key, PodGang& gang, Shortage words, SysTime now,
                           milliseconds pause) {
  actions_.emplace_back(placement::VoidTicket{{key, gang.number}});
  actions_.emplace_back(Remove{{key, gang.number}});
  LeaveLine(key, gang);
  gangs_.Enter(key, gang, PodStage::kWaiting, now);
  gang.attached.clear();
  gang.pause = std::min(2 * gang.pause, kCreatePauseMax);
  if (gang.over_quota) over_quota_.Add(key, gang.priority);
  gangs_.SetDue(key, gang, now + pause);
  Say(key, gang, std::move(words));
}

/// Pods of ours have ended: a quota may have room now.
void PodGangs::RetryOverQuota(SysTime now) {
  for (const GangKey& key : over_quota_.TakeSome()) gangs_.SetDue(key, gangs_.all().at(key), now);
}

void PodGangs::OnRemoved(const Submission& submission) {
  PodGang* gang = gangs_.Find(submission);
  // A gang that was forgotten and is wanted again has the same names.
  if (gang != nullptr && !IsCurrent(submission)) gang->is_removed = true;
  to_look_at_.insert(submission.gang);
}

void PodGangs::OnScaleUp(const Submission& submission, SysTime) {
  PodGang* gang = gangs_.Find(submission);
  if (gang != nullptr && gang->stage == PodStage::kPlacing) gang->scales_up = true;
  to_look_at_.insert(submission.gang);
}

// --- agents

void PodGangs::OnAttached(const Submission& submission, int slot, const std::string& node, SysTime) {
  if (PodGang* gang = gangs_.Find(submission)) gang->attached.insert_or_assign(slot, node);
  to_look_at_.insert(submission.gang);
}

void PodGangs::OnTimeLimit(const Submission& submission) {
  if (PodGang* gang = gangs_.Find(submission)) gang->at_time_limit = true;
}

// --- what is next

void PodGangs::OnDue(const GangKey& key, SysTime now) {
  PodGang& gang = gangs_.all().at(key);
  switch (gang.stage) {
    case PodStage::kWaiting:
      over_quota_.Remove(key, gang.priority);
      // Once the next submission is recorded, nobody knows the former one.
      if (gang.number > 0 && !gang.is_removed) return gangs_.SetDue(key, gang, now + kCreatePause);
      return turns_.Wait(key, PlaceOf(gang));
    case PodStage::kCreating:
      if (no_answer_) return gangs_.SetDue(key, gang, now + gang.pause);
      ExpectAnswer(gang);
      actions_.emplace_back(Create{{key, gang.number}});
      return;
    default: to_look_at_.insert(key);
  }
}

std::vector<GangAction> PodGangs::Next(SysTime now) {
  for (int looks = 0; looks < kLooksMax; ++looks) {
    const std::optional<GangKey> due = gangs_.TakeDue(now);
    if (!due) break;
    OnDue(*due, now);
  }
  for (int looks = 0; looks < kLooksMax && !to_look_at_.empty(); ++looks) {
    const GangKey key = *to_look_at_.begin();
    to_look_at_.erase(to_look_at_.begin());
    if (const auto found = gangs_.all().find(key); found != gangs_.all().end()) Look(key, found->second, now);
  }
  CreateSome(now);
  if (std::exchange(is_list_wanted_, false)) actions_.emplace_back(ListPods{});
  return std::exchange(actions_, {});
}

std::optional<SysTime> PodGangs::WakeAt() const {
  if (!to_look_at_.empty() || !actions_.empty()) return SysTime();
  return gangs_.NextDue();
}

std::optional<placement::Wait> PodGangs::WaitOf(const GangKey& key) const {
  const auto found = gangs_.all().find(key);
  if (found == gangs_.all().end() || !Waits(found->second)) return std::nullopt;
  return WaitOfOne(found->second, no_answer_);
}

bool PodGangs::IsCurrent(const Submission& submission) const {
  const PodGang* gang = gangs_.Find(submission);
  return gang != nullptr && gang->stage != PodStage::kWaiting && gang->stage != PodStage::kEnding;
}

bool PodGangs::MayLive(const Submission& submission) const {
  const PodGang* gang = gangs_.Find(submission);
  return gang != nullptr && gang->lives;
}

std::string PodGangs::NodeOf(const Submission& submission, int slot) const {
  const PodGang* gang = gangs_.Find(submission);
  return gang == nullptr ? std::string() : NodeOfSlot(*gang, slot);
}

// --- pods

void PodGangs::OnListFailed(const std::string& words, SysTime) {
  if (no_answer_ == words) return;
  no_answer_ = words;
  SayToAll();
}

void PodGangs::OnListed(std::vector<Pod> pods, SysTime asked, SysTime now) {
  const bool was_away = std::exchange(no_answer_, std::nullopt).has_value();
  if (was_away) SayToAll();
  is_listed_ = true;
  std::map<GangKey, std::set<int>> listed;
  for (Pod& pod : pods) {
    if (const auto name = ParsePodName(installation_, pod.name); name && gangs_.Find(name->submission))
      listed[name->submission.gang].insert(name->slot);
    OnPod(std::move(pod), now);
  }
  gangs_.SeeOnly(listed, asked);
  for (auto& [key, gang] : gangs_.all()) {
    if (was_away && gang.stage == PodStage::kCreating && gang.due) gangs_.SetDue(key, gang, now);
    if (gang.stage != PodStage::kWaiting) to_look_at_.insert(to_look_at_.end(), key);
  }
}

void PodGangs::OnPod(Pod pod, SysTime now) {
  const std::optional<SlotName> name = ParsePodName(installation_, pod.name);
  if (!name) return;
  if (pod.has_ended()) RetryOverQuota(now);
  const bool is_deleted = pod.is_deleted;
  if (gangs_.See(*name, std::move(pod)))
    to_look_at_.insert(name->submission.gang);
  else if (!is_deleted)  // nobody wants it
    actions_.emplace_back(Remove{name->submission});
}

void PodGangs::OnPodGone(Pod pod, SysTime now) {
  const std::optional<SlotName> name = ParsePodName(installation_, pod.name);
  if (!name) return;
  RetryOverQuota(now);
  if (gangs_.SeeGone(*name, std::move(pod))) to_look_at_.insert(name->submission.gang);
}

void PodGangs::Look(const GangKey& key, PodGang& gang, SysTime now) {
  switch (gang.stage) {
    case PodStage::kWaiting:
    case PodStage::kCreating: return;
    case PodStage::kPlacing: return LookAtPlacing(key, gang, now);
    case PodStage::kGranted:
      if (std::optional<PodEnd> end = FirstEnd(gang)) TakeRoomBack(key, gang, *std::move(end), now);
      return;
    case PodStage::kEnding: return LookAtEnding(key, gang, now);
  }
}

void PodGangs::LookAtPlacing(const GangKey& key, PodGang& gang, SysTime now) {
  if (!is_listed_) return;
  PlacingVerdict verdict = JudgePlacing(gang, limits_, turns_.IsCrowded(gang.line), now);
  if (auto* still = std::get_if<StillPlacing>(&verdict)) {
    gangs_.SetDue(key, gang, still->look_at);
    if (!still->unplaced_pod.empty()) {
      gang.asked_for_scale_up = true;
      actions_.emplace_back(LookForScaleUp{{key, gang.number}, std::move(still->unplaced_pod)});
    }
    is_list_wanted_ = gangs_.MissesPods(key, gang, now) || is_list_wanted_;
    Say(key, gang, std::move(still->words));
  } else if (auto* starting = std::get_if<StillStarting>(&verdict)) {
    LeaveLine(key, gang);
    gangs_.SetDue(key, gang, starting->look_at);
    Say(key, gang, std::move(starting->words));
  } else if (auto* end = std::get_if<PodEnd>(&verdict)) {
    TakeRoomBack(key, gang, std::move(*end), now);
  } else if (auto* way = std::get_if<GivesWay>(&verdict)) {
    const std::string name = SecretName(installation_, {key, gang.number});
    CreateAgain(key, gang, std::move(way->words), now,
                way->after_turn ? PauseAfter(limits_.turn, name) : milliseconds(gang.pause));
  } else {
    gang.had_room = true;
    gang.pause = kCreatePause;
    LeaveLine(key, gang);
    gangs_.Enter(key, gang, PodStage::kGranted, now);
    actions_.emplace_back(placement::GiveRoom{{key, gang.number}});
  }
}

void PodGangs::TakeRoomBack(const GangKey& key, PodGang& gang, PodEnd end, SysTime now) {
  actions_.emplace_back(placement::VoidTicket{{key, gang.number}});
  actions_.emplace_back(placement::TakeBack{.gang = key, .kind = end.kind, .reason = std::move(end.reason)});
  LeaveLine(key, gang);
  gangs_.Enter(key, gang, PodStage::kEnding, now);
  LookAtEnding(key, gang, now);
}

void PodGangs::LookAtEnding(const GangKey& key, PodGang& gang, SysTime now) {
  if (!gang.is_answered || !is_listed_) return;
  const bool lives = HasLivingPods(gang);
  if (!lives && std::exchange(gang.lives, false) && gang.had_room)
    actions_.emplace_back(placement::NothingLives{{key, gang.number}});
  if (lives && gang.may_live_until && now < *gang.may_live_until)
    return gangs_.SetDue(key, gang, gang.may_live_until);
  if (!gang.removed || (lives && now >= *gang.removed + kRemoveAgain)) {
    gang.removed = now;
    actions_.emplace_back(Remove{{key, gang.number}});
  }
  if (lives) {
    gangs_.SetDue(key, gang, *gang.removed + kRemoveAgain);
    is_list_wanted_ = gangs_.MissesPods(key, gang, now) || is_list_wanted_;
    return;
  }
  if (!gang.released || !gang.is_removed) return;
  if (gang.wanted_again) return BeginAnew(key, gang, now);
  Erase(key);
}

}  // namespace trainyard::kubernetes
