#include "rules/slurm/testing/gangs_key.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace trainyard::slurm {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Opens a private member. Only a model needs the whole state of the rules, so they have no accessors for it;
/// an explicit instantiation may name private members.
template <class Tag, auto kMember>
struct Opened {
  friend constexpr auto MemberOf(Tag /*tag*/) { return kMember; }
};
// NOLINTBEGIN(cppcoreguidelines-macro-usage): a template cannot declare the friend that it defines.
#define OPEN(Tag, Member)                    \
  struct Tag {                               \
    friend constexpr auto MemberOf(Tag tag); \
  };                                         \
  template struct Opened<Tag, &Member>
// NOLINTEND(cppcoreguidelines-macro-usage)

OPEN(GangsOf, Gangs::gangs_);
OPEN(ToSubmitOf, Gangs::to_submit_);
OPEN(QuestionsOf, Gangs::questions_);
OPEN(AnsweringSinceOf, Gangs::answering_since_);
OPEN(OwnCancelsOf, Gangs::own_cancels_);
OPEN(ReadingOf, Gangs::reading_);
OPEN(UnderWayOf, Questions::under_way_);
OPEN(SoonOf, Questions::soon_);
OPEN(AskedOf, Questions::asked_);
OPEN(TookOf, Questions::took_);
OPEN(WantedOf, Questions::wanted_);
OPEN(AskingForOneOf, Questions::asking_for_one_);
OPEN(NotedOf, OwnCancels::noted_);
OPEN(BeforeOf, OwnCancels::before_);
OPEN(KnownOf, Claims::known_);

template <class Tag, class Whole>
const auto& In(const Whole& whole) {
  return std::invoke(MemberOf(Tag()), whole);
}

// Characters of a key that are no small number.
constexpr char kLongNumber = 101;
constexpr char kOldTime = 102;
constexpr char kNoTime = 103;

constexpr seconds kDueMax{1'000};

void Add(KeyWriter& key, const Submission& submission) {
  key.Add(submission.gang.job_uid);
  key.Add(submission.number);
}

/// `settled`: the age from which on times are not compared with the request of a list any more.
void Add(KeyWriter& key, const SlurmGang& gang, seconds settled) {
  const bool is_there = gang.stage == GangStage::kThere;
  key.Add(static_cast<int>(gang.stage));
  key.Add(gang.submission);
  key.AddTime(gang.since, settled);
  key.Add(gang.pause.count());
  key.Add(std::ssize(gang.ids));
  for (const std::int64_t id : gang.ids) key.Add(id);
  for (const auto& [slot, node] : gang.attached) key.Add(slot * 256 + node.back());
  key.Add(-1);
  for (const auto& [slot, since] : gang.closed) {
    key.Add(slot);
    key.AddTime(since, kAgentAbsenceMax + kCallMax);
  }
  key.Add(-1);
  if (is_there) key.AddTime(gang.complete, settled);
  if (is_there) key.AddTime(gang.running, kAttachMax + kCallMax);
  key.AddTime(gang.missing, settled);
  key.AddTime(gang.may_live_until, settled);
  key.Add(int{gang.at_time_limit} + 2 * int{gang.had_room} + 4 * int{gang.released} + 8 * int{gang.lives} +
          16 * int{gang.waits_because.empty()} + 32 * int{gang.running.has_value()} +
          64 * int{gang.complete.has_value()});
  key.Add(int{gang.wanted_again} + 2 * int{gang.is_answered});
}

void Add(KeyWriter& key, const Questions& questions) {
  key.Add(int{In<UnderWayOf>(questions)} + 2 * int{In<SoonOf>(questions)});
  key.AddTime(In<AskedOf>(questions), kQuietPause + seconds(1));
  const seconds took = std::chrono::floor<seconds>(In<TookOf>(questions));
  key.Add(std::min(took, kQuietPause / kListPauseFactor).count());
  for (const Submission& wanted : In<WantedOf>(questions)) Add(key, wanted);
  key.Add(In<AskingForOneOf>(questions));
}

}  // namespace

void KeyWriter::Add(std::int64_t number) {
  const bool is_short = number >= -100 && number < 100;
  key_ += is_short ? static_cast<char>(number) : kLongNumber;
  if (!is_short) key_.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void KeyWriter::AddTime(SysTime time, seconds age_max) {
  const nanoseconds age = now_ - time;
  if (age > age_max) return key_.push_back(kOldTime);
  const seconds whole = std::chrono::floor<seconds>(age);
  Add(whole.count());
  rests_.push_back({gang_, (age - whole).count()});
}

void KeyWriter::AddTime(const std::optional<SysTime>& time, seconds age_max) {
  if (time) return AddTime(*time, age_max);
  key_.push_back(kNoTime);
}

std::string KeyWriter::Finish() {
  std::vector<std::int64_t> earlier;
  for (const Rest& rest : rests_) {
    earlier.clear();
    for (const Rest& other : rests_) {
      const bool is_compared = other.gang == 0 || other.gang == rest.gang;
      if (is_compared && other.value < rest.value) earlier.push_back(other.value);
    }
    std::ranges::sort(earlier);
    const auto repeated = std::ranges::unique(earlier);
    const bool is_zero = rest.value == 0;  // exactly some seconds ago: a limit may be reached now
    key_ += static_cast<char>(2 * (repeated.begin() - earlier.begin()) + (is_zero ? 0 : 1));
  }
  return std::move(key_);
}

void AddState(KeyWriter& key, const Gangs& gangs, SysTime asked) {
  const seconds settled = kSettle + std::chrono::ceil<seconds>(key.now() - asked);
  for (const auto& [gang, state] : In<GangsOf>(gangs).all()) {
    key.Add(gang.job_uid);
    key.SetGang(static_cast<int>(gang.job_uid));
    Add(key, state, settled);
  }
  key.SetGang(0);
  for (const auto& [gang, state] : In<GangsOf>(gangs).all()) key.AddTime(state.due, kDueMax);
  key.Add(-1);
  for (const GangKey& gang : In<ToSubmitOf>(gangs)) key.Add(gang.job_uid);
  key.Add(-1);
  Add(key, In<QuestionsOf>(gangs));
  key.AddTime(In<AnsweringSinceOf>(gangs), settled);
  key.Add(int{In<ReadingOf>(gangs).has_value()});
  for (const auto* ids : {&In<NotedOf>(In<OwnCancelsOf>(gangs)), &In<BeforeOf>(In<OwnCancelsOf>(gangs))}) {
    for (const std::int64_t id : *ids) key.Add(id);
    key.Add(-1);
  }
}

void AddState(KeyWriter& key, const Claims& claims) {
  for (const auto& [submission, known] : In<KnownOf>(claims)) {
    Add(key, submission);
    key.Add(known.first_id.value_or(0));
    key.Add(known.components);
    key.Add(std::ssize(known.nodes));
    for (const std::string& nodes : known.nodes) {
      key.Add(std::ssize(nodes));
      key.Add(nodes.empty() ? 0 : nodes.back());
    }
  }
  key.Add(-2);
}

}  // namespace trainyard::slurm
