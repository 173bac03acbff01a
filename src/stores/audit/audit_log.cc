#include "stores/audit/audit_log.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <deque>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/guarded.h"
#include "stores/audit/audit_entry.h"

namespace trainyard::audit {

namespace {

namespace asio = boost::asio;

/// How many more refusals of unknown callers may be added now.
class Allowance {
 public:
  bool Take(SysTime now) {
    const auto passed = std::max(now - counted_, std::chrono::nanoseconds(0)) / AuditLog::kNobodyEvery;
    if (passed > 0) counted_ = now;
    left_ = static_cast<int>(std::min<std::int64_t>(AuditLog::kNobodyAtOnce, left_ + passed));
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  SysTime counted_;
  int left_ = AuditLog::kNobodyAtOnce;
};

/// An entry for decisions that have no entry.
struct Note {
  LeftOut why = LeftOut::kDiskTooSlow;
  std::int64_t count = 0;
  SysTime time;
};

/// Passes decisions from the threads that add them to the thread that writes.
struct Mailbox {
  std::vector<AuditEvent> events;
  std::int64_t too_slow = 0;
  std::int64_t nobody = 0;
  Allowance allowance;
  SysTime last_time;
  bool is_drain_posted = false;

  /// A time that no other entry has: odd, and after the last one unless the clock was turned back a lot.
  SysTime NextTime(SysTime now) {
    const SysTime odd(std::chrono::nanoseconds(now.time_since_epoch().count() | 1));
    const bool goes_on = last_time < now + AuditLog::kTurnedBackMax;
    last_time = goes_on ? std::max(odd, last_time + std::chrono::nanoseconds(2)) : odd;
    return last_time;
  }
};

}  // namespace

struct AuditLog::State {
  State(const Clock& used_clock, Options used_options, AuditWriter used_writer)
      : clock(used_clock), options(std::move(used_options)), writer(std::move(used_writer)) {}

  void Drain();
  void TakeMail();
  bool Write();
  void Sync();
  void SyncLater();
  void DrainAfter(std::chrono::steady_clock::duration time);
  void SayRefusal(const Error& error);
  void Finish();

  const Clock& clock;
  const Options options;
  Guarded<Mailbox> mailbox;
  // Used on the writing thread only.
  AuditWriter writer;
  std::deque<AuditWriter::Line> lines;  ///< printed, not yet written
  std::optional<std::chrono::steady_clock::time_point> refusal_said, nobody_said;
  bool is_sync_due = false;
  bool is_closing = false;
  asio::thread_pool thread{1};
  asio::steady_timer sync_timer{thread};
  asio::steady_timer drain_timer{thread};
};

/// Takes new decisions only when all earlier lines are written, so that their number stays bounded.
void AuditLog::State::TakeMail() {
  const auto now = std::chrono::steady_clock::now();
  const SysTime time = clock.Now();
  const bool says_nobody = is_closing || !nobody_said || now - *nobody_said >= kSayEvery;
  std::vector<AuditEvent> events;
  std::vector<Note> notes;
  mailbox.With([&](Mailbox& mail) {
    events.swap(mail.events);
    if (mail.too_slow > 0)
      notes.push_back({LeftOut::kDiskTooSlow, std::exchange(mail.too_slow, 0), mail.NextTime(time)});
    if (mail.nobody > 0 && says_nobody)
      notes.push_back({LeftOut::kNobody, std::exchange(mail.nobody, 0), mail.NextTime(time)});
  });
  for (AuditEvent& event : events) {
    event.line = Tidied(std::move(event.line));
    lines.push_back({event.time, LineOf(event) + "\n"});
  }
  for (const Note& note : notes) {
    lines.push_back(
        {note.time, LineOf(note.why, note.count, options.default_project, note.time, time) + "\n"});
    if (note.why == LeftOut::kNobody) nobody_said = now;
  }
}

bool AuditLog::State::Write() {
  if (lines.empty()) TakeMail();
  if (lines.empty()) return true;
  const Status written = writer.Append(lines);
  if (!written) SayRefusal(written.error());
  return written.has_value();
}

void AuditLog::State::Drain() {
  if (!Write()) return DrainAfter(kRetryAfter);
  SyncLater();
  const auto [is_more, is_nobody_unsaid] = mailbox.With([](Mailbox& mail) {
    mail.is_drain_posted = !mail.events.empty() || mail.too_slow > 0;
    return std::pair(mail.is_drain_posted, mail.nobody > 0);
  });
  if (is_more) {
    DrainAfter(kGather);
  } else if (is_nobody_unsaid) {
    DrainAfter(kSayEvery);
  }
}

void AuditLog::State::DrainAfter(std::chrono::steady_clock::duration time) {
  if (is_closing) return;
  drain_timer.expires_after(time);
  drain_timer.async_wait([this](const boost::system::error_code& error) {
    if (!error) Drain();
  });
}

void AuditLog::State::SyncLater() {
  if (is_closing || std::exchange(is_sync_due, true)) return;
  sync_timer.expires_after(kSyncEvery);
  sync_timer.async_wait([this](const boost::system::error_code& error) {
    if (!error) Sync();
  });
}

void AuditLog::State::Sync() {
  is_sync_due = false;
  if (const Status synced = writer.Sync(); !synced) SayRefusal(synced.error());
}

void AuditLog::State::SayRefusal(const Error& error) {
  const auto now = std::chrono::steady_clock::now();
  if (refusal_said && now - *refusal_said < kSayEvery) return;
  refusal_said = now;
  Diagnose(DiagnosticLevel::kError, "audit: the audit log cannot be written: " + error.message + "; up to " +
                                        std::to_string(options.waiting_max) +
                                        " decisions wait in memory, more are only counted");
}

void AuditLog::State::Finish() {
  is_closing = true;
  sync_timer.cancel();
  drain_timer.cancel();
  const auto is_more = [](const Mailbox& mail) { return !mail.events.empty() || mail.nobody > 0; };
  while (Write() && mailbox.With(is_more)) {
  }
  Sync();
  if (!lines.empty())
    Diagnose(DiagnosticLevel::kError, "audit: " + std::to_string(lines.size()) +
                                          " decisions are lost: they could not be written to the disk");
}

AuditLog::AuditLog(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const Clock& clock, Options options) {
  TY_TRY(AuditWriter writer, AuditWriter::Open(options.files, clock.Now()));
  auto state = std::make_unique<State>(clock, std::move(options), std::move(writer));
  const std::optional<SysTime> last = state->writer.last_time();
  state->mailbox.With([&last](Mailbox& mail) { mail.last_time = last.value_or(SysTime()); });
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(state)));
}

AuditLog::~AuditLog() {
  asio::post(state_->thread, [state = state_.get()] { state->Finish(); });
  state_->thread.join();
}

void AuditLog::Add(access::AuditLine line, std::string project) {
  const SysTime now = state_->clock.Now();
  AuditEvent event{
      .line = Bounded(std::move(line)), .project = std::move(project), .time = {}, .received = now};
  const bool is_nobody = !event.line.is_granted && event.line.principal.empty();
  const bool must_post = state_->mailbox.With([&](Mailbox& mail) {
    if (is_nobody && !mail.allowance.Take(now)) {
      if (++mail.nobody > 1) return false;
    } else if (mail.events.size() >= state_->options.waiting_max) {
      ++mail.too_slow;
    } else {
      event.time = mail.NextTime(now);
      mail.events.push_back(std::move(event));
    }
    return !std::exchange(mail.is_drain_posted, true);
  });
  if (must_post) asio::post(state_->thread, [state = state_.get()] { state->DrainAfter(kGather); });
}

void AuditLog::Flush() {
  std::promise<void> done;
  asio::post(state_->thread, [state = state_.get(), &done] {
    state->Write();
    state->Sync();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace trainyard::audit
