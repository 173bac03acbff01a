#include "rules/kubernetes/pod_gangs.h"

#include <algorithm>
#include <functional>

#include "rules/kubernetes/server_words.h"

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

bool Waits(const PodGang& gang) {
  return gang.stage != PodStage::kGranted && (gang.stage != PodStage::kEnding || gang.wanted_again);
}

placement::Wait WaitOfOne(const PodGang& gang, const std::optional<std::string>& no_answer) {
  const bool is_in_line = gang.stage == PodStage::kWaiting && !gang.due && gang.number == 0;
  if (!is_in_line && !no_answer) return gang.wait;
  const Shortage words = no_answer ? NoAnswer(*no_answer) : WaitsForTurn();
  return {.reason = words.reason, .unblock = words.unblock, .is_turn = !no_answer};
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
  gang.may_hold_part = wanted.slots > 1;  // whoever was to place it then
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
  gang.queue_asked.reset();
  gang.queue_words.clear();
  gang.part_since.reset();
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

// --- requests

void PodGangs::Want(WantedPods wanted, SysTime now) {
  const GangKey key = wanted.key;
  const auto [place, is_new] = book_.gangs.all().try_emplace(key);
  PodGang& gang = place->second;
  if (!is_new && (!gang.released || std::exchange(gang.wanted_again, true))) return;
  if (!is_new) book_.Leave(key, gang);
  gang.slots = wanted.slots;
  gang.priority = wanted.priority;
  gang.line = std::move(wanted.line);
  if (!is_new) return book_.Say(key, gang, StillEnding());
  const bool granted = wanted.granted;
  Fill(gang, std::move(wanted), now);
  if (gang.number == 0) return book_.Wait(key, gang);
  book_.gangs.Enter(key, gang, granted ? PodStage::kGranted : PodStage::kPlacing, now);
  if (gang.stage == PodStage::kPlacing) book_.Take(key, gang);
  book_.to_look_at.insert(key);
}

void PodGangs::Release(const GangKey& key, SysTime now) {
  const auto found = book_.gangs.all().find(key);
  if (found == book_.gangs.all().end()) return;
  PodGang& gang = found->second;
  gang.wanted_again = false;
  if (gang.released) return;
  gang.released = true;
  if (gang.number == 0) return book_.Erase(key);
  book_.to_look_at.insert(key);
  if (gang.stage == PodStage::kEnding) return;
  if (gang.stage != PodStage::kWaiting) book_.actions.emplace_back(placement::VoidTicket{{key, gang.number}});
  const bool leaves = gang.stage == PodStage::kGranted;
  book_.Leave(key, gang);
  book_.gangs.Enter(key, gang, PodStage::kEnding, now);
  if (leaves) gang.may_live_until = now + kLeaveMax;
}

// --- creation

void PodGangs::CreateSome(SysTime now) {
  if (!is_listed_ || no_answer_) return;
  for (const GangKey& key : book_.turns.Next(kCreatingMax)) {
    if (book_.gangs.creating() >= kCreatingMax) return;
    PodGang& gang = book_.gangs.all().at(key);
    book_.Take(key, gang);
    ++gang.number;
    ForgetPods(gang);
    gang.may_hold_part = gang.slots > 1 && book_.limits.scheduler != GangScheduler::kPodGroups;
    book_.gangs.Enter(key, gang, PodStage::kCreating, now);
    if (!gang.over_quota) book_.Say(key, gang, BeingCreated());
    book_.actions.emplace_back(Create{{key, gang.number}});
  }
}

void PodGangs::OnCreated(const Submission& submission, SysTime now) {
  PodGang* gang = book_.gangs.Find(submission);
  if (gang == nullptr) return book_.actions.push_back(Remove{submission});
  SetAnswered(*gang, now);
  book_.to_look_at.insert(submission.gang);
  if (gang->stage != PodStage::kCreating) return;
  gang->over_quota = false;
  book_.gangs.Enter(submission.gang, *gang, PodStage::kPlacing, now);
}

void PodGangs::OnNotCreated(const Submission& submission, NotCreated why, Shortage words, SysTime now) {
  const GangKey& key = submission.gang;
  PodGang* gang = book_.gangs.Find(submission);
  if (gang == nullptr) return book_.actions.push_back(Remove{submission});
  SetAnswered(*gang, now);
  book_.to_look_at.insert(key);
  if (gang->stage != PodStage::kCreating) return;
  if (why == NotCreated::kNoAnswer && now < gang->since + book_.limits.turn) {
    book_.Say(key, *gang, std::move(words));
    book_.gangs.SetDue(key, *gang, now + gang->pause);
    gang->pause = std::min(2 * gang->pause, kCreatePauseMax);
    return;
  }
  gang->over_quota = why == NotCreated::kLater;
  book_.CreateAgain(key, *gang, std::move(words), now,
                    gang->over_quota ? book_.over_quota.PauseOf(gang->pause) : gang->pause);
}

void PodGangs::OnRemoved(const Submission& submission) {
  PodGang* gang = book_.gangs.Find(submission);
  // A gang that was forgotten and is wanted again has the same names.
  if (gang != nullptr && !IsCurrent(submission)) gang->is_removed = true;
  book_.to_look_at.insert(submission.gang);
}

void PodGangs::OnScaleUp(const Submission& submission, SysTime) {
  PodGang* gang = book_.gangs.Find(submission);
  if (gang != nullptr && gang->stage == PodStage::kPlacing) gang->scales_up = true;
  book_.to_look_at.insert(submission.gang);
}

void PodGangs::OnQueueWords(const Submission& submission, const std::string& words) {
  PodGang* gang = book_.gangs.Find(submission);
  if (gang == nullptr || gang->stage != PodStage::kPlacing) return;
  gang->queue_words = ServerWords(words);
  book_.to_look_at.insert(submission.gang);
}

// --- agents

void PodGangs::OnAttached(const Submission& submission, int slot, const std::string& node, SysTime) {
  if (PodGang* gang = book_.gangs.Find(submission)) gang->attached.insert_or_assign(slot, node);
  book_.to_look_at.insert(submission.gang);
}

void PodGangs::OnUnheard(const Submission& submission, std::string reason, SysTime now) {
  PodGang* gang = book_.gangs.Find(submission);
  if (gang == nullptr || gang->stage != PodStage::kGranted) return;
  book_.TakeRoomBack(submission.gang, *gang, {.reason = std::move(reason)}, now);
}

void PodGangs::OnTimeLimit(const Submission& submission) {
  if (PodGang* gang = book_.gangs.Find(submission)) gang->at_time_limit = true;
}

// --- what is next

void PodGangs::OnDue(const GangKey& key, SysTime now) {
  PodGang& gang = book_.gangs.all().at(key);
  switch (gang.stage) {
    case PodStage::kWaiting:
      book_.over_quota.Remove(key, gang.priority);
      // Once the next submission is recorded, nobody knows the former one.
      if (gang.number > 0 && !gang.is_removed) return book_.gangs.SetDue(key, gang, now + kCreatePause);
      return book_.Wait(key, gang);
    case PodStage::kCreating:
      if (no_answer_) return book_.gangs.SetDue(key, gang, now + gang.pause);
      ExpectAnswer(gang);
      book_.actions.emplace_back(Create{{key, gang.number}});
      return;
    default: book_.to_look_at.insert(key);
  }
}

std::vector<GangAction> PodGangs::Next(SysTime now) {
  if (list_) ReadList(now);
  for (int looks = 0; looks < kLooksMax; ++looks) {
    const std::optional<GangKey> due = book_.gangs.TakeDue(now);
    if (!due) break;
    OnDue(*due, now);
  }
  for (int looks = 0; looks < kLooksMax && !book_.to_look_at.empty(); ++looks) {
    const GangKey key = *book_.to_look_at.begin();
    book_.to_look_at.erase(book_.to_look_at.begin());
    if (const auto found = book_.gangs.all().find(key); found != book_.gangs.all().end())
      Look(key, found->second, now);
  }
  CreateSome(now);
  if (say_from_)
    say_from_ = book_.gangs.ForSome(*say_from_, kLooksMax, [this](const GangKey& key, const PodGang& gang) {
      if (Waits(gang)) book_.actions.emplace_back(placement::SayWait{key});
    });
  if (std::exchange(is_list_wanted_, false)) book_.actions.emplace_back(ListPods{});
  return std::exchange(book_.actions, {});
}

std::optional<SysTime> PodGangs::WakeAt() const {
  if (!book_.to_look_at.empty() || !book_.actions.empty() || say_from_ || list_) return SysTime();
  return book_.gangs.NextDue();
}

std::optional<placement::Wait> PodGangs::WaitOf(const GangKey& key) const {
  const auto found = book_.gangs.all().find(key);
  if (found == book_.gangs.all().end() || !Waits(found->second)) return std::nullopt;
  return WaitOfOne(found->second, no_answer_);
}

bool PodGangs::IsCurrent(const Submission& submission) const {
  const PodGang* gang = book_.gangs.Find(submission);
  return gang != nullptr && gang->stage != PodStage::kWaiting && gang->stage != PodStage::kEnding;
}

bool PodGangs::MayLive(const Submission& submission) const {
  const PodGang* gang = book_.gangs.Find(submission);
  return gang != nullptr && gang->lives;
}

std::string PodGangs::NodeOf(const Submission& submission, int slot) const {
  const PodGang* gang = book_.gangs.Find(submission);
  return gang == nullptr ? std::string() : NodeOfSlot(*gang, slot);
}

bool PodGangs::IsLeaving(const Submission& submission, int slot) const {
  const PodGang* gang = book_.gangs.Find(submission);
  return gang != nullptr && kubernetes::IsLeaving(*gang, slot);
}

// --- pods

void PodGangs::OnListFailed(const std::string& words, SysTime) {
  if (no_answer_ != words) say_from_ = GangKey();
  no_answer_ = words;
}

void PodGangs::OnListed(std::vector<Pod> pods, SysTime asked, SysTime now) {
  while (list_) ReadList(now);
  list_ = PodsListed{.pods = std::move(pods), .asked = asked, .was_away = no_answer_.has_value()};
  if (std::exchange(no_answer_, std::nullopt)) say_from_ = GangKey();
}

void PodGangs::ReadList(SysTime now) {
  PodsListed& list = *list_;
  for (int looks = 0; looks < kLooksMax && list.next < list.pods.size(); ++looks) {
    Pod& pod = list.pods[list.next++];
    const auto name = ParsePodName(book_.installation, pod.name);
    if (!name) continue;
    if (book_.gangs.Find(name->submission)) list.slots[name->submission.gang].insert(name->slot);
    Take(*name, std::move(pod), false, now);
  }
  if (list.next < list.pods.size()) return;
  is_listed_ = true;
  for (auto& [key, gang] : book_.gangs.all()) {
    if (gang.number > 0) PodGangTable::SeeOnly(gang, list.slots[key], list.asked);
    if (list.was_away && gang.stage == PodStage::kCreating && gang.due) book_.gangs.SetDue(key, gang, now);
    if (gang.stage != PodStage::kWaiting) book_.to_look_at.insert(book_.to_look_at.end(), key);
  }
  const PodsListed done = *std::exchange(list_, std::nullopt);
  for (const PodsListed::Event& event : done.later) OnEvent(event.pod, event.is_gone, now);
}

void PodGangs::OnEvent(Pod pod, bool is_gone, SysTime now) {
  const auto name = ParsePodName(book_.installation, pod.name);
  if (!name) return;
  if (list_)
    list_->later.push_back({.pod = std::move(pod), .is_gone = is_gone});
  else
    Take(*name, std::move(pod), is_gone, now);
}

void PodGangs::Take(const SlotName& name, Pod pod, bool is_gone, SysTime now) {
  const bool is_going = is_gone || pod.is_deleted;
  const PodGang* gang = book_.gangs.Find(name.submission);
  // A quota may have room now, but not by the end of the pods that were made before it refused their gang.
  if ((is_gone || pod.has_ended()) && gang != nullptr && !gang->over_quota)
    for (const GangKey& key : book_.over_quota.TakeSome())
      book_.gangs.SetDue(key, book_.gangs.all().at(key), now);
  if (is_gone ? book_.gangs.SeeGone(name, std::move(pod)) : book_.gangs.See(name, std::move(pod)))
    book_.to_look_at.insert(name.submission.gang);
  else if (!is_going)  // nobody wants it
    book_.actions.emplace_back(Remove{name.submission});
}

void PodGangs::Look(const GangKey& key, PodGang& gang, SysTime now) {
  switch (gang.stage) {
    case PodStage::kWaiting:
    case PodStage::kCreating: return;
    case PodStage::kPlacing: return LookAtPlacing(key, gang, now);
    case PodStage::kGranted:
      if (std::optional<PodEnd> end = FirstEnd(gang)) book_.TakeRoomBack(key, gang, *std::move(end), now);
      return;
    case PodStage::kEnding: return LookAtEnding(key, gang, now);
  }
}

void PodGangs::LookAtPlacing(const GangKey& key, PodGang& gang, SysTime now) {
  if (!is_listed_) return;
  PlacingVerdict verdict = JudgePlacing(gang, book_.limits, book_.turns.IsCrowded(gang.line), now);
  if (auto* still = std::get_if<StillPlacing>(&verdict)) {
    book_.gangs.SetDue(key, gang, still->look_at);
    if (!still->unplaced_pod.empty()) {
      gang.asked_for_scale_up = true;
      book_.actions.emplace_back(LookForScaleUp{{key, gang.number}, std::move(still->unplaced_pod)});
    }
    if (still->asks_queue) {
      gang.queue_asked = now;
      book_.actions.emplace_back(AskQueue{{key, gang.number}});
    }
    is_list_wanted_ = book_.gangs.MissesPods(key, gang, now) || is_list_wanted_;
    book_.Say(key, gang, std::move(still->words));
  } else if (auto* starting = std::get_if<StillStarting>(&verdict)) {
    book_.Leave(key, gang);
    book_.gangs.SetDue(key, gang, starting->look_at);
    book_.Say(key, gang, std::move(starting->words));
  } else if (auto* end = std::get_if<PodEnd>(&verdict)) {
    book_.TakeRoomBack(key, gang, std::move(*end), now);
  } else if (auto* way = std::get_if<GivesWay>(&verdict)) {
    const std::string name = SecretName(book_.installation, {key, gang.number});
    book_.CreateAgain(key, gang, std::move(way->words), now,
                      way->after_turn ? PauseAfter(book_.limits.turn, name) : milliseconds(gang.pause));
  } else {
    gang.had_room = true;
    gang.pause = kCreatePause;
    book_.Leave(key, gang);
    book_.gangs.Enter(key, gang, PodStage::kGranted, now);
    book_.actions.emplace_back(placement::GiveRoom{{key, gang.number}});
  }
}

void PodGangs::LookAtEnding(const GangKey& key, PodGang& gang, SysTime now) {
  if (!gang.is_answered || !is_listed_) return;
  const bool lives = HasLivingPods(gang);
  if (!lives && std::exchange(gang.lives, false) && gang.had_room)
    book_.actions.emplace_back(placement::NothingLives{{key, gang.number}});
  if (lives && gang.may_live_until && now < *gang.may_live_until)
    return book_.gangs.SetDue(key, gang, gang.may_live_until);
  if (!gang.removed || (lives && now >= *gang.removed + kRemoveAgain)) {
    gang.removed = now;
    book_.actions.emplace_back(book_.RemoveOf(key, gang));
  }
  if (lives) {
    book_.gangs.SetDue(key, gang, *gang.removed + kRemoveAgain);
    is_list_wanted_ = book_.gangs.MissesPods(key, gang, now) || is_list_wanted_;
    return;
  }
  if (!gang.released || !gang.is_removed) return;
  if (gang.wanted_again) return book_.BeginAnew(key, gang, BeingCreated(), now);
  book_.Erase(key);
}

}  // namespace trainyard::kubernetes
