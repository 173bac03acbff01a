#include "control/upkeep/clock_watch.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/wire/time.h"
#include "rules/retention/clock_jumps.h"

namespace trainyard::control {

namespace {

using retention::ClockHistory;
using retention::ClockJump;
using retention::ClockReading;
using std::chrono::nanoseconds;

constexpr std::size_t kFileBytesMax = 64 << 10;
/// The part of the last known time that a kill between two writes may lose, before the machine is started
/// again.
constexpr std::chrono::minutes kSaveEvery{10};
constexpr mode_t kOwnersFile = 0600;

SysTime TimeOf(const boost::json::object& json, const char* name) {
  const boost::json::value* value = json.if_contains(name);
  boost::system::error_code error;
  return SysTime(nanoseconds(value == nullptr ? 0 : value->to_number<std::int64_t>(error)));
}

std::int64_t Count(SysTime time) { return time.time_since_epoch().count(); }

std::string Print(const ClockHistory& history) {
  boost::json::array jumps;
  for (const ClockJump& jump : history.jumps)
    jumps.push_back(boost::json::object{{"before", Count(jump.before)}, {"after", Count(jump.after)}});
  return boost::json::serialize(boost::json::object{{"time", Count(history.last.wall)},
                                                    {"since_boot", history.last.since_boot.count()},
                                                    {"boot", history.last.boot},
                                                    {"unconfirmed", history.unconfirmed.count()},
                                                    {"jumps", std::move(jumps)}}) +
         "\n";
}

std::optional<ClockHistory> Parse(const std::string& text) {
  boost::system::error_code error;
  const boost::json::value json = boost::json::parse(text, error);
  if (error || !json.is_object()) return std::nullopt;
  const boost::json::object& object = json.as_object();
  ClockHistory history{
      .last = {.wall = TimeOf(object, "time"), .since_boot = TimeOf(object, "since_boot").time_since_epoch()},
      .unconfirmed = TimeOf(object, "unconfirmed").time_since_epoch()};
  if (const boost::json::value* boot = object.if_contains("boot"); boot != nullptr && boot->is_string())
    history.last.boot = boot->as_string();
  if (const boost::json::value* jumps = object.if_contains("jumps"); jumps != nullptr && jumps->is_array()) {
    for (const boost::json::value& jump : jumps->as_array()) {
      if (!jump.is_object() || history.jumps.size() >= retention::kJumpsMax) continue;
      history.jumps.push_back(
          {.before = TimeOf(jump.as_object(), "before"), .after = TimeOf(jump.as_object(), "after")});
    }
  }
  if (history.last.wall == SysTime{}) return std::nullopt;
  return history;
}

/// When the databases were last changed; nothing: no server has run here.
std::optional<SysTime> LastChange(const std::string& data) {
  std::optional<SysTime> last;
  for (const char* name : {"/trainyard.db", "/trainyard.db-wal", "/logs.db", "/logs.db-wal"}) {
    struct stat status{};
    if (::stat((data + name).c_str(), &status) != 0) continue;
    const SysTime changed{std::chrono::seconds(status.st_mtim.tv_sec)};
    last = std::max(last.value_or(changed), changed);
  }
  return last;
}

void Say(const ClockJump& jump) {
  const bool forward = jump.after > jump.before;
  Diagnose(DiagnosticLevel::kWarning,
           "the machine's clock went " + std::string(forward ? "forward" : "back") + " by " +
               retention::AboutText(jump.after - jump.before) + ": it says " + wire::PrintTime(jump.after) +
               ", and by the time that has passed it is " + wire::PrintTime(jump.before) +
               ". The jump does not count for time limits of jobs, nor for the age of stored data");
}

}  // namespace

ClockReading ClockWatch::ReadKernel() {
  timespec up{};
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  return {.wall = std::chrono::system_clock::now(),
          .since_boot = std::chrono::seconds(up.tv_sec) + nanoseconds(up.tv_nsec),
          .boot = BootId()};
}

ClockWatch::ClockWatch(const std::string& data, Read read)
    : file_(data + "/last-seen.json"),
      word_(retention::ClockWordFile(data)),
      data_(data),
      read_(std::move(read)) {
  history_.With([this](ClockHistory& history) {
    const ClockReading now = read_();
    const std::optional<ClockHistory> kept = Parse(ReadFile(file_, kFileBytesMax).value_or(""));
    history = kept.value_or(ClockHistory{.last = {.wall = LastChange(data_).value_or(now.wall)}});
    Advance(history);
  });
}

void ClockWatch::Advance(ClockHistory& history) {
  const std::optional<ClockJump> jump = retention::Advance(history, read_());
  if (jump) Say(*jump);
  if (jump || !saved_ || history.last.since_boot >= *saved_ + kSaveEvery) Save(history);
}

/// If the disk cannot be written to, the note only gets older.
void ClockWatch::Save(const ClockHistory& history) {
  saved_ = history.last.since_boot;
  static_cast<void>(WriteFileAtomically(file_, Print(history), kOwnersFile));
}

void ClockWatch::Look() {
  history_.With([this](ClockHistory& history) { Advance(history); });
  if (::unlink(word_.c_str()) != 0) return;
  Diagnose(DiagnosticLevel::kInfo,
           "the operator confirmed the machine's clock: old data is removed by it again");
  Confirm();
}

SysTime ClockWatch::NowForRemoval() {
  return history_.With([this](ClockHistory& history) {
    Advance(history);
    return retention::NowForRemoval(history, history.last.wall);
  });
}

nanoseconds ClockWatch::JumpedSince(SysTime since) {
  return history_.With([this, since](ClockHistory& history) {
    Advance(history);
    return retention::JumpedSince(history, since, history.last.wall);
  });
}

std::optional<nanoseconds> ClockWatch::Doubt() {
  return history_.With([](ClockHistory& history) {
    return history.unconfirmed > nanoseconds{0} ? std::optional(history.unconfirmed) : std::nullopt;
  });
}

void ClockWatch::Confirm() {
  history_.With([this](ClockHistory& history) {
    history.unconfirmed = nanoseconds{0};
    Save(history);
  });
}

}  // namespace trainyard::control
