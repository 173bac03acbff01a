#include "rules/slurm/gangs.h"

#include <algorithm>
#include <utility>

namespace trainyard::slurm {

namespace {

placement::Wait WaitFor(placement::Shortage words) {
  return {.reason = std::move(words.reason), .unblock = std::move(words.unblock), .never = words.never};
}

/// `words`: Slurm's message.
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

placement::Shortage BeingSubmitted() {
  return {.reason = "It is being submitted to Slurm.", .unblock = "It starts when Slurm has room."};
}

/// Processes of a job that is COMPLETING may still live: Slurm has only begun to end them.
bool IsCompleting(std::span<const ListedJob> found) {
  return std::ranges::find(found, JobState::kEnding, &ListedJob::state) != found.end();
}

SlurmGang GangOf(const Gangs::GangRequest& wanted, SysTime now) {
  SlurmGang gang{.slots = wanted.slots,
                 .partition = wanted.partition,
                 .submission = wanted.last_submission,
                 .since = now,
                 .had_room = wanted.granted || wanted.may_have_run};
  // Without resources nothing runs yet: it gets them once its agents have connected to this server.
  if (!wanted.granted) return gang;
  gang.attached = wanted.attached;
  if (std::ssize(gang.attached) == gang.slots) gang.complete = now;
  for (const auto& [slot, node] : gang.attached) gang.closed.emplace(slot, now + kAgentReturnMax);
  return gang;
}

/// Nothing, unless it was released.
void WantAgain(const Gangs::GangRequest& wanted, SlurmGang& gang) {
  if (!gang.released || std::exchange(gang.wanted_again, true)) return;
  gang.slots = wanted.slots;
  gang.partition = wanted.partition;
  gang.wait = WaitFor({.reason = "Slurm still ends what the job had there before.",
                       .unblock = "It is submitted once nothing of that is left."});
}

/// The gang as it is before its next submission. The numbers of its submissions go on, so that agents of the
/// former one are refused.
SlurmGang AnewOf(const SlurmGang& gang) {
  return {.slots = gang.slots,
          .partition = gang.partition,
          .submission = gang.submission,
          .since = gang.since,
          .wait = gang.wait};
}

}  // namespace

void Gangs::Enter(const GangKey& key, SlurmGang& gang, GangStage stage, SysTime now) {
  gangs_.Enter(key, gang, stage, now);
  if (stage == GangStage::kUncertain || stage == GangStage::kEnding) questions_.AskSoon();
}

void Gangs::Say(const GangKey& key, SlurmGang& gang, placement::Shortage words) {
  placement::Wait wait = WaitFor(std::move(words));
  if (wait == gang.wait) return;
  gang.wait = std::move(wait);
  gang.waits_because.clear();
  actions_.emplace_back(SayWait{key});
}

void Gangs::Want(GangRequest wanted, SysTime now) {
  const auto [place, is_new] = gangs_.all().try_emplace(wanted.key);
  if (!is_new) return WantAgain(wanted, place->second);
  SlurmGang& gang = place->second = GangOf(wanted, now);
  own_cancels_.Note(wanted.cancelled, now);
  if (wanted.granted) {
    Enter(wanted.key, gang, GangStage::kGranted, now);
    return gangs_.SetDue(wanted.key, gang, now + kAgentReturnMax + kAgentAbsenceMax);
  }
  if (gang.submission > 0) return Enter(wanted.key, gang, GangStage::kUncertain, now);
  gang.wait = WaitFor(BeingSubmitted());
  gangs_.SetDue(wanted.key, gang, now);
}

void Gangs::BeginAnew(const GangKey& key, SlurmGang& gang, SysTime now) {
  Enter(key, gang, GangStage::kToSubmit, now);
  gang = AnewOf(gang);
  gangs_.SetDue(key, gang, now);
  Say(key, gang, BeingSubmitted());
}

void Gangs::Release(const GangKey& key, SysTime now) {
  const auto found = gangs_.all().find(key);
  if (found == gangs_.all().end()) return;
  SlurmGang& gang = found->second;
  gang.wanted_again = false;
  if (gang.released) return;
  gang.released = true;
  if (gang.submission == 0) return Erase(key);
  if (gang.stage == GangStage::kEnding) return;
  actions_.emplace_back(VoidTicket{{key, gang.submission}});
  const bool leaves = gang.stage == GangStage::kGranted;
  if (!leaves) CancelAll(key, gang, now);
  Enter(key, gang, GangStage::kEnding, now);
  if (!leaves) return;
  gang.may_live_until = now + kLeaveMax;
  gangs_.SetDue(key, gang, gang.may_live_until);
}

void Gangs::Erase(const GangKey& key) {
  gangs_.Erase(key);
  actions_.emplace_back(Forget{key});
}

void Gangs::CancelAll(const GangKey& key, SlurmGang& gang, SysTime now) {
  if (!gang.ids.empty()) Cancel(JobName(installation_, key), std::exchange(gang.ids, {}), now);
}

void Gangs::Cancel(const std::string& name, std::vector<std::int64_t> ids, SysTime now) {
  own_cancels_.Note(ids, now);
  actions_.emplace_back(CancelJobs{.name = name, .ids = std::move(ids)});
}

// --- submissions

void Gangs::OnSubmitted(const Submission& submission, std::int64_t id, SysTime now) {
  answering_since_ = answering_since_.value_or(now);
  SlurmGang* gang = gangs_.Find(submission);
  if (gang == nullptr) return Cancel(JobName(installation_, submission.gang), {id}, now);
  gang->is_answered = true;
  // sbatch may take longer than it takes to release a gang that needs no resources any more.
  if (gang->stage == GangStage::kEnding) {
    gang->since = now;  // lists requested before now may lack the job
    return Cancel(JobName(installation_, submission.gang), {id}, now);
  }
  if (gang->stage != GangStage::kSubmitting) return;
  gang->ids = {id};
  Enter(submission.gang, *gang, GangStage::kThere, now);
}

void Gangs::OnNotSubmitted(const Submission& submission, Failure failure, const std::string& words,
                           SysTime now) {
  SlurmGang* gang = gangs_.Find(submission);
  if (gang == nullptr) return;
  gang->is_answered = true;
  if (gang->stage == GangStage::kEnding && failure == Failure::kNoAnswer) gang->since = now;
  if (gang->stage != GangStage::kSubmitting) return;
  if (failure != Failure::kNoAnswer)
    return SubmitAgain(submission.gang, *gang, WhyNotSubmitted(failure, words), now);
  Enter(submission.gang, *gang, GangStage::kUncertain, now);
  answering_since_.reset();
  Say(submission.gang, *gang, WhyNotSubmitted(failure, words));
}

void Gangs::SubmitAgain(const GangKey& key, SlurmGang& gang, placement::Shortage words, SysTime now) {
  if (gang.submission > 0) actions_.emplace_back(VoidTicket{{key, gang.submission}});
  CancelAll(key, gang, now);
  ForgetAgents(gang);
  Enter(key, gang, GangStage::kToSubmit, now);
  gangs_.SetDue(key, gang, now + gang.pause);
  gang.pause = std::min(2 * gang.pause, kResubmitPauseMax);
  Say(key, gang, std::move(words));
}

void Gangs::SubmitSome(SysTime now) {
  while (!to_submit_.empty() && gangs_.submitting() < kSubmittingMax) {
    const GangKey key = to_submit_.front();
    to_submit_.pop_front();
    const auto found = gangs_.all().find(key);
    if (found == gangs_.all().end() || found->second.stage != GangStage::kToSubmit) continue;
    SlurmGang& gang = found->second;
    ++gang.submission;
    gang.is_answered = false;
    Enter(key, gang, GangStage::kSubmitting, now);
    actions_.emplace_back(Submit{{key, gang.submission}});
  }
}

// --- lists

void Gangs::AskForSome() {
  while (const std::optional<Submission> submission = questions_.TakeOne()) {
    const SlurmGang* gang = gangs_.Find(*submission);
    if (gang == nullptr || gang->stage != GangStage::kThere || gang->ids.empty()) continue;
    questions_.OnOneAsked();
    actions_.emplace_back(AskList{.id = gang->ids.front()});
  }
}

void Gangs::OnListFailed(std::optional<std::int64_t> id, const std::string& words, SysTime now) {
  answering_since_.reset();
  if (id) return questions_.OnOneDone(false);
  questions_.OnNoList(now);
  reading_.emplace(WhyNotSubmitted(Failure::kNoAnswer, words));
  ReadOn(now);
}

void Gangs::OnListed(std::optional<std::int64_t> id, SysTime asked, OurJobs ours, SysTime now) {
  if (!answering_since_) answering_since_ = asked;
  if (id) questions_.OnOneDone(ours.size() > 0);
  ListReading reading(std::move(ours),
                      {.found = {}, .asked = asked, .answering_since = *answering_since_, .now = now});
  if (!id) {
    questions_.OnList(asked, now);
    reading_ = std::move(reading);
    return ReadOn(now);
  }
  Strangers strangers;
  while (const std::optional<GangKey> key = reading.NextOwner()) {
    const auto known = gangs_.all().find(*key);
    const int number = known == gangs_.all().end() ? 0 : known->second.submission;
    const std::span<ListedJob> found = reading.Take({*key, number}, strangers);
    // A missing job is left to the next list.
    if (!found.empty()) Look(*key, known->second, found, reading.sight());
  }
  CancelStrangers(std::move(strangers), now);
}

void Gangs::ReadOn(SysTime now) {
  Strangers strangers;
  auto next = reading_->latest() ? gangs_.all().upper_bound(*reading_->latest()) : gangs_.all().begin();
  for (int looks = 0; looks < kLooksMax && next != gangs_.all().end(); ++looks) {
    const auto [key, gang] = std::pair<const GangKey, SlurmGang*>(next->first, &next->second);
    ++next;  // before Look, which may erase it
    const std::span<ListedJob> found = reading_->Take({key, gang->submission}, strangers);
    if (!reading_->no_answer()) {
      Look(key, *gang, found, reading_->sight());
      continue;
    }
    gang->missing.reset();
    const bool is_asked_for = gang->stage == GangStage::kThere || gang->stage == GangStage::kUncertain;
    if (is_asked_for) Say(key, *gang, *reading_->no_answer());
  }
  if (next == gangs_.all().end()) {
    reading_->TakeRest(strangers);
    reading_.reset();
    questions_.OnListDone();
  }
  CancelStrangers(std::move(strangers), now);
}

void Gangs::CancelStrangers(Strangers strangers, SysTime now) {
  for (auto& [name, ids] : strangers) Cancel(name, std::move(ids), now);
}

void Gangs::Look(const GangKey& key, SlurmGang& gang, std::span<ListedJob> found, Sight sight) {
  if (IsNothingNew(gang, found)) return;
  if (sight.asked < gang.since && found.empty()) return;  // it was found or released during the request
  if (gang.stage == GangStage::kToSubmit || gang.stage == GangStage::kSubmitting) return;
  gang.ids.clear();
  for (const ListedJob& job : found)
    if (!HasEnded(job.state)) gang.ids.push_back(job.id);
  own_cancels_.TellApart(found);
  sight.found = found;
  if (gang.stage == GangStage::kEnding) return LookAtEnding(key, gang, sight);
  if (gang.stage == GangStage::kUncertain && !found.empty()) Enter(key, gang, GangStage::kThere, sight.now);
  Verdict verdict = Judge(gang, sight);
  if (std::holds_alternative<LookSoon>(verdict)) questions_.AskSoon();
  if (auto* waits = std::get_if<KeepWaiting>(&verdict)) {
    if (gang.running) gangs_.SetDue(key, gang, *gang.running + kAttachMax);
    if (gang.complete) questions_.AskSoon();  // its agents have connected before Slurm lists it as running
    Say(key, gang, std::move(waits->words));
    gang.waits_because = std::move(waits->because);
  } else if (std::holds_alternative<HasRoom>(verdict)) {
    gang.had_room = true;
    Enter(key, gang, GangStage::kGranted, sight.now);
    actions_.emplace_back(GiveRoom{{key, gang.submission}});
  } else if (auto* again = std::get_if<Resubmit>(&verdict)) {
    if (again->at_once) gang.pause = kResubmitPause;
    SubmitAgain(key, gang, std::move(again->words), sight.now);
  } else if (auto* lost = std::get_if<LosesRoom>(&verdict)) {
    TakeRoomBack(key, gang, std::move(*lost), sight);
  }
}

void Gangs::TakeRoomBack(const GangKey& key, SlurmGang& gang, LosesRoom why, const Sight& sight) {
  actions_.emplace_back(VoidTicket{{key, gang.submission}});
  actions_.emplace_back(TakeBack{.gang = key, .kind = why.kind, .reason = std::move(why.reason)});
  const bool lives = !gang.ids.empty() || IsCompleting(sight.found);
  CancelAll(key, gang, sight.now);
  Enter(key, gang, GangStage::kEnding, sight.now);
  if (!lives) SayDead(key, gang);
}

void Gangs::SayDead(const GangKey& key, SlurmGang& gang) {
  if (std::exchange(gang.lives, false) && gang.had_room)
    actions_.emplace_back(NothingLives{{key, gang.submission}});
}

void Gangs::LookAtEnding(const GangKey& key, SlurmGang& gang, const Sight& sight) {
  const bool leaves = gang.may_live_until && sight.asked < *gang.may_live_until;
  if (!gang.ids.empty()) return leaves ? void() : CancelAll(key, gang, sight.now);
  if (IsCompleting(sight.found)) return;
  // A recent submission may be missing in lists if the controller has just restarted.
  const bool is_settled =
      gang.is_answered && sight.asked >= std::max(gang.since, sight.answering_since) + kSettle;
  if (!sight.found.empty() || is_settled) SayDead(key, gang);
  if (!is_settled || !gang.released) return;
  if (gang.wanted_again) return BeginAnew(key, gang, sight.now);
  Erase(key);
}

// --- agents

void Gangs::OnAttached(const Submission& submission, int slot, const std::string& node, SysTime now) {
  SlurmGang* gang = gangs_.Find(submission);
  if (gang == nullptr || !NoteAgent(*gang, slot, node, now) || gang->stage != GangStage::kThere) return;
  questions_.WantOne(submission);
}

void Gangs::OnDetached(const Submission& submission, int slot, bool closed, SysTime now) {
  SlurmGang* gang = gangs_.Find(submission);
  if (gang == nullptr) return;
  questions_.AskSoon();
  if (!closed) return;
  gang->closed.emplace(slot, now);
  if (gang->stage == GangStage::kGranted) gangs_.SetDue(submission.gang, *gang, now + kAgentAbsenceMax);
}

void Gangs::OnUnheard(const Submission& submission, std::string reason, SysTime now) {
  SlurmGang* gang = gangs_.Find(submission);
  if (gang == nullptr || gang->stage != GangStage::kGranted) return;
  const GangKey& key = submission.gang;
  actions_.emplace_back(VoidTicket{submission});
  actions_.emplace_back(TakeBack{.gang = key, .reason = std::move(reason)});
  CancelAll(key, *gang, now);
  Enter(key, *gang, GangStage::kEnding, now);
}

void Gangs::OnTimeLimit(const Submission& submission) {
  if (SlurmGang* gang = gangs_.Find(submission)) gang->at_time_limit = true;
}

// --- what is next

void Gangs::OnDue(const GangKey& key) {
  if (gangs_.all().at(key).stage == GangStage::kToSubmit) {
    to_submit_.push_back(key);
  } else {
    questions_.AskSoon();
  }
}

std::vector<GangAction> Gangs::Next(SysTime now) {
  if (reading_) ReadOn(now);
  for (int looks = 0; looks < kLooksMax; ++looks) {
    const std::optional<GangKey> due = gangs_.TakeDue(now);
    if (!due) break;
    OnDue(*due);
  }
  SubmitSome(now);
  if (!gangs_.all().empty() && questions_.TakeList(gangs_.waits(), now)) actions_.emplace_back(AskList{});
  AskForSome();
  return std::exchange(actions_, {});
}

std::optional<SysTime> Gangs::WakeAt() const {
  if (reading_) return SysTime();
  std::optional<SysTime> wake;
  if (!gangs_.all().empty()) wake = questions_.ListAt(gangs_.waits());
  if (const auto due = gangs_.NextDue()) wake = std::min(wake.value_or(*due), *due);
  return wake;
}

std::optional<placement::Wait> Gangs::WaitOf(const GangKey& key) const {
  const auto found = gangs_.all().find(key);
  if (found == gangs_.all().end()) return std::nullopt;
  const SlurmGang& gang = found->second;
  const bool waits =
      gang.stage != GangStage::kGranted && (gang.stage != GangStage::kEnding || gang.wanted_again);
  return waits ? std::optional(gang.wait) : std::nullopt;
}

bool Gangs::IsCurrent(const Submission& submission) const {
  const SlurmGang* gang = gangs_.Find(submission);
  return gang != nullptr && gang->stage != GangStage::kToSubmit && gang->stage != GangStage::kEnding;
}

bool Gangs::MayLive(const Submission& submission) const {
  const SlurmGang* gang = gangs_.Find(submission);
  return gang != nullptr && gang->lives;
}

}  // namespace trainyard::slurm
