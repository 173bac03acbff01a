#include "slurm/gangs.h"

#include <algorithm>
#include <utility>

namespace trainyard::slurm {

namespace {

placement::Wait WaitFor(placement::Shortage words) {
  return {.reason = std::move(words.reason), .unblock = std::move(words.unblock), .never = words.never};
}

/// `words`: Slurm's.
placement::Shortage WhyNotSubmitted(Failure failure, const std::string& words) {
  switch (failure) {
    case Failure::kNoAnswer:
      return {.reason = "Slurm's controller does not answer (" + words + ").",
              .unblock = "It starts once the controller is back."};
    case Failure::kLater:
      return {.reason = "Slurm takes no more jobs for now (" + words + ").",
              .unblock = "It is submitted again until Slurm takes it."};
    case Failure::kNever:
      return {.reason = "The cluster cannot hold the job (" + words + ").",
              .unblock = "Cancel it, and submit it with fewer replicas or smaller machine types.",
              .never = true};
    case Failure::kGone:
    case Failure::kMistake: break;
  }
  return {.reason = "Slurm refuses the job (" + words + ").",
          .unblock = "The operator has to mend the options of the engine."};
}

/// Lists are asked for often.
bool IsWaitingFor(Stage stage) {
  return stage == Stage::kUncertain || stage == Stage::kThere || stage == Stage::kEnding;
}

template <class All>
auto* FindIn(All& gangs, const Submission& submission) {
  const auto found = gangs.find(submission.gang);
  return found == gangs.end() || found->second.submission != submission.number ? nullptr : &found->second;
}

}  // namespace

void Gangs::CountStage(Stage stage, int change) {
  if (IsWaitingFor(stage)) waiting_ += change;
  if (stage == Stage::kSubmitting) submitting_ += change;
}

void Gangs::Enter(const GangKey& key, Gang& gang, Stage stage, SysTime now) {
  CountStage(gang.stage, -1);
  CountStage(stage, 1);
  gang.stage = stage;
  gang.since = now;
  gang.missing.reset();
  SetDue(key, gang, std::nullopt);
  if (stage == Stage::kUncertain || stage == Stage::kEnding) list_soon_ = true;
}

void Gangs::SetDue(const GangKey& key, Gang& gang, std::optional<SysTime> due) {
  if (gang.due) due_.erase({*gang.due, key});
  gang.due = due;
  if (gang.due) due_.insert({*gang.due, key});
}

void Gangs::Say(const GangKey& key, Gang& gang, placement::Shortage words) {
  placement::Wait wait = WaitFor(std::move(words));
  if (wait == gang.wait) return;
  gang.wait = std::move(wait);
  actions_.emplace_back(SayWait{key});
}

void Gangs::Want(Wanted wanted, SysTime now) {
  const auto [place, is_new] = gangs_.try_emplace(wanted.key);
  if (!is_new) return;
  Gang& gang = place->second;
  gang.slots = wanted.slots;
  gang.partition = std::move(wanted.partition);
  gang.submission = wanted.last_submission;
  gang.attached = std::move(wanted.attached);
  gang.since = now;
  if (std::ssize(gang.attached) == gang.slots) gang.complete = now;
  gang.had_room = wanted.granted;
  if (wanted.granted) return Enter(wanted.key, gang, Stage::kGranted, now);
  if (gang.submission > 0) return Enter(wanted.key, gang, Stage::kUncertain, now);
  gang.wait =
      WaitFor({.reason = "It is being submitted to Slurm.", .unblock = "It starts when Slurm has room."});
  SetDue(wanted.key, gang, now);
}

void Gangs::Release(const GangKey& key, SysTime now) {
  const auto found = gangs_.find(key);
  if (found == gangs_.end() || found->second.released) return;
  Gang& gang = found->second;
  gang.released = true;
  if (gang.submission == 0) return Erase(key);
  if (gang.stage == Stage::kEnding) return;
  actions_.emplace_back(VoidTicket{{key, gang.submission}});
  const bool leaves = gang.stage == Stage::kGranted;
  if (!leaves) CancelAll(key, gang, now);
  Enter(key, gang, Stage::kEnding, now);
  if (!leaves) return;
  gang.may_live_until = now + kLeaveMax;
  SetDue(key, gang, gang.may_live_until);
}

void Gangs::Erase(const GangKey& key) {
  Gang& gang = gangs_.at(key);
  CountStage(gang.stage, -1);
  SetDue(key, gang, std::nullopt);
  gangs_.erase(key);
  actions_.emplace_back(Forget{key});
}

void Gangs::CancelAll(const GangKey& key, Gang& gang, SysTime now) {
  if (!gang.ids.empty()) Cancel(JobName(installation_, key), std::exchange(gang.ids, {}), now);
}

void Gangs::Cancel(const std::string& name, std::vector<std::int64_t> ids, SysTime now) {
  own_cancels_.Note(ids, now);
  actions_.emplace_back(CancelJobs{.name = name, .ids = std::move(ids)});
}

// --- submissions

void Gangs::OnSubmitted(const Submission& submission, std::int64_t id, SysTime now) {
  Gang* gang = FindIn(gangs_, submission);
  if (gang == nullptr) return;
  answering_since_ = answering_since_.value_or(now);
  if (gang->stage == Stage::kEnding) {  // released meanwhile
    gang->ids = {id};
    return CancelAll(submission.gang, *gang, now);
  }
  if (gang->stage != Stage::kSubmitting) return;
  gang->ids = {id};
  Enter(submission.gang, *gang, Stage::kThere, now);
}

void Gangs::OnNotSubmitted(const Submission& submission, Failure failure, const std::string& words,
                           SysTime now) {
  Gang* gang = FindIn(gangs_, submission);
  if (gang == nullptr || gang->stage != Stage::kSubmitting) return;
  if (failure != Failure::kNoAnswer)
    return SubmitAgain(submission.gang, *gang, WhyNotSubmitted(failure, words), now);
  Enter(submission.gang, *gang, Stage::kUncertain, now);
  answering_since_.reset();
  Say(submission.gang, *gang, WhyNotSubmitted(failure, words));
}

void Gangs::SubmitAgain(const GangKey& key, Gang& gang, placement::Shortage words, SysTime now) {
  if (gang.submission > 0) actions_.emplace_back(VoidTicket{{key, gang.submission}});
  CancelAll(key, gang, now);
  gang.attached.clear();
  gang.closed.clear();
  gang.at_time_limit = false;
  gang.complete.reset();
  gang.running.reset();
  Enter(key, gang, Stage::kToSubmit, now);
  SetDue(key, gang, now + gang.pause);
  gang.pause = std::min(2 * gang.pause, kResubmitPauseMax);
  Say(key, gang, std::move(words));
}

void Gangs::SubmitSome(SysTime now) {
  while (!to_submit_.empty() && submitting_ < kSubmittingMax) {
    const GangKey key = to_submit_.front();
    to_submit_.pop_front();
    const auto found = gangs_.find(key);
    if (found == gangs_.end() || found->second.stage != Stage::kToSubmit) continue;
    Gang& gang = found->second;
    ++gang.submission;
    Enter(key, gang, Stage::kSubmitting, now);
    actions_.emplace_back(Submit{{key, gang.submission}});
  }
}

// --- lists

std::chrono::seconds Gangs::ListPause() const {
  if (list_soon_) return kListPauseMin;
  return waiting_ > 0 ? kListPause : kQuietPause;
}

void Gangs::AskWhenItIsTime(SysTime now) {
  if (listing_ || gangs_.empty() || (asked_ && *asked_ + ListPause() > now)) return;
  listing_ = true;
  list_soon_ = false;
  asked_ = now;
  actions_.emplace_back(AskList{});
}

void Gangs::OnListFailed(std::optional<std::int64_t> id, const std::string& words, SysTime now) {
  answering_since_.reset();
  if (id) return;
  listing_ = false;
  for (auto& [key, gang] : gangs_) {
    gang.missing.reset();
    if (gang.stage != Stage::kThere && gang.stage != Stage::kUncertain) continue;
    Say(key, gang, WhyNotSubmitted(Failure::kNoAnswer, words));
  }
  asked_ = now;
}

void Gangs::OnListed(std::optional<std::int64_t> id, SysTime asked, std::span<const ListedJob> jobs,
                     SysTime now) {
  if (!id) listing_ = false;
  if (!answering_since_) answering_since_ = asked;
  std::map<GangKey, Found> ours;
  std::map<std::string, std::vector<std::int64_t>> strangers;  // by name
  for (const ListedJob& job : jobs) {
    const std::optional<Submission> submission = ParseNames(installation_, job.name, job.comment);
    if (!submission) continue;
    if (FindIn(gangs_, *submission) != nullptr) {
      ours[submission->gang].push_back(&job);
    } else if (!HasEnded(job.state)) {
      strangers[job.name].push_back(job.id);
    }
  }
  for (auto& [name, ids] : strangers) Cancel(name, std::move(ids), now);
  if (id) {  // of one job, whose absence says nothing that the next list does not say
    for (const auto& [key, found] : ours) Look(key, gangs_.at(key), found, asked, now);
    return;
  }
  const Found none;
  for (auto next = gangs_.begin(); next != gangs_.end();) {
    const auto [key, gang] = std::pair<const GangKey, Gang*>(next->first, &next->second);
    ++next;  // Look may erase it
    const auto found = ours.find(key);
    Look(key, *gang, found == ours.end() ? none : found->second, asked, now);
  }
}

void Gangs::Look(const GangKey& key, Gang& gang, const Found& found, SysTime asked, SysTime now) {
  if (asked < gang.since && found.empty())
    return;  // it came, or was released, while the question was on its way
  if (gang.stage == Stage::kToSubmit || gang.stage == Stage::kSubmitting) return;
  gang.ids.clear();
  for (const ListedJob* job : found)
    if (!HasEnded(job->state)) gang.ids.push_back(job->id);
  if (gang.stage == Stage::kEnding) return LookAtEnding(key, gang, found, asked, now);
  if (gang.stage == Stage::kUncertain && !found.empty()) Enter(key, gang, Stage::kThere, now);
  const std::vector<ListedJob> seen = own_cancels_.Apart(found);
  Found jobs;
  for (const ListedJob& job : seen) jobs.push_back(&job);
  Verdict verdict =
      Judge(gang, {.found = jobs, .asked = asked, .answering_since = *answering_since_, .now = now});
  if (std::holds_alternative<LookSoon>(verdict)) list_soon_ = true;
  if (auto* waits = std::get_if<KeepWaiting>(&verdict)) {
    if (gang.running) SetDue(key, gang, *gang.running + kAttachMax);
    Say(key, gang, std::move(waits->words));
  } else if (std::holds_alternative<HasRoom>(verdict)) {
    gang.had_room = true;
    Enter(key, gang, Stage::kGranted, now);
    actions_.emplace_back(GiveRoom{{key, gang.submission}});
  } else if (auto* again = std::get_if<Resubmit>(&verdict)) {
    if (again->at_once) gang.pause = kResubmitPause;
    SubmitAgain(key, gang, std::move(again->words), now);
  } else if (auto* lost = std::get_if<LosesRoom>(&verdict)) {
    TakeRoomBack(key, gang, lost->kind, std::move(lost->reason), now);
  }
}

void Gangs::TakeRoomBack(const GangKey& key, Gang& gang, placement::RoomEnd kind, std::string reason,
                         SysTime now) {
  actions_.emplace_back(VoidTicket{{key, gang.submission}});
  actions_.emplace_back(TakeBack{.gang = key, .kind = kind, .reason = std::move(reason)});
  const bool lives = !gang.ids.empty();
  CancelAll(key, gang, now);
  Enter(key, gang, Stage::kEnding, now);
  if (!lives) SayDead(key, gang);
}

void Gangs::SayDead(const GangKey& key, Gang& gang) {
  if (std::exchange(gang.lives, false) && gang.had_room)
    actions_.emplace_back(NothingLives{{key, gang.submission}});
}

void Gangs::LookAtEnding(const GangKey& key, Gang& gang, const Found& found, SysTime asked, SysTime now) {
  const bool leaves = gang.may_live_until && asked < *gang.may_live_until;
  if (!gang.ids.empty()) return leaves ? void() : CancelAll(key, gang, now);
  // What was submitted a moment ago may not be in lists yet, if the controller has just come back.
  const bool is_settled = asked >= std::max(gang.since, *answering_since_) + kSettle;
  if (!found.empty() || is_settled) SayDead(key, gang);
  if (is_settled && gang.released) Erase(key);
}

// --- agents

void Gangs::OnAttached(const Submission& submission, int slot, const std::string& node, SysTime now) {
  Gang* gang = FindIn(gangs_, submission);
  if (gang == nullptr) return;
  gang->closed.erase(slot);
  gang->attached.insert_or_assign(slot, node);
  if (std::ssize(gang->attached) < gang->slots || gang->complete) return;
  gang->complete = now;
  if (gang->stage != Stage::kThere) return;
  list_soon_ = true;
  if (!gang->ids.empty()) actions_.emplace_back(AskList{.id = gang->ids.front()});
}

void Gangs::OnDetached(const Submission& submission, int slot, bool closed, SysTime now) {
  Gang* gang = FindIn(gangs_, submission);
  if (gang == nullptr) return;
  list_soon_ = true;
  if (!closed) return;
  gang->closed.emplace(slot, now);
  if (gang->stage == Stage::kGranted) SetDue(submission.gang, *gang, now + kAgentAbsenceMax);
}

void Gangs::OnTimeLimit(const Submission& submission) {
  if (Gang* gang = FindIn(gangs_, submission)) gang->at_time_limit = true;
}

// --- what is next

void Gangs::OnDue(const GangKey& key) {
  Gang& gang = gangs_.at(key);
  SetDue(key, gang, std::nullopt);
  if (gang.stage == Stage::kToSubmit) {
    to_submit_.push_back(key);
  } else {
    list_soon_ = true;
  }
}

std::vector<GangAction> Gangs::Next(SysTime now) {
  while (!due_.empty() && due_.begin()->first <= now) OnDue(GangKey(due_.begin()->second));
  SubmitSome(now);
  AskWhenItIsTime(now);
  return std::exchange(actions_, {});
}

std::optional<SysTime> Gangs::WakeAt() const {
  std::optional<SysTime> wake;
  if (!due_.empty()) wake = due_.begin()->first;
  if (!listing_ && !gangs_.empty()) {
    const SysTime list = asked_ ? *asked_ + ListPause() : SysTime();
    wake = wake ? std::min(*wake, list) : list;
  }
  return wake;
}

std::optional<placement::Wait> Gangs::WaitOf(const GangKey& key) const {
  const auto found = gangs_.find(key);
  if (found == gangs_.end()) return std::nullopt;
  const bool waits = found->second.stage != Stage::kGranted && found->second.stage != Stage::kEnding;
  return waits ? std::optional(found->second.wait) : std::nullopt;
}

bool Gangs::IsCurrent(const Submission& submission) const {
  const Gang* gang = FindIn(gangs_, submission);
  return gang != nullptr && gang->stage != Stage::kToSubmit && gang->stage != Stage::kEnding;
}

bool Gangs::MayLive(const Submission& submission) const {
  const Gang* gang = FindIn(gangs_, submission);
  return gang != nullptr && gang->lives;
}

}  // namespace trainyard::slurm
