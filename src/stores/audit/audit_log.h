#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/access/audit_line.h"
#include "stores/audit/audit_writer.h"

namespace trainyard::audit {

/// Keeps decisions: on disk within kGather or little more, durable within kSyncEvery, and before it is
/// destroyed. Whoever adds one never waits. What waits for the disk is bounded: beyond it decisions are
/// counted, and an entry of its own says how many are missing, as soon as the disk takes one. While the disk
/// refuses (full), it is tried again each kRetryAfter. After a kill -9 the files have all that was written; a
/// last line may be cut.
///
/// Refusals of callers that nobody knows are bounded, too, because each costs its sender nothing and older
/// entries go for them: kNobodyAtOnce, then one in kNobodyEvery; an entry counts the rest.
class AuditLog {
 public:
  /// What comes meanwhile is written with it: to wake a thread for each decision costs who decides.
  static constexpr std::chrono::milliseconds kGather{10};
  static constexpr std::chrono::milliseconds kSyncEvery{1'000};
  static constexpr std::chrono::milliseconds kRetryAfter{1'000};
  static constexpr int kNobodyAtOnce = 200;
  static constexpr std::chrono::seconds kNobodyEvery{10};
  static constexpr std::chrono::seconds kSayEvery{60};  ///< how many were left out; that the disk refuses
  /// Times in the log go on from the last one where the clock was turned back by less than this.
  static constexpr std::chrono::hours kTurnedBackMax{1};

  struct Options {
    AuditWriter::Options files;
    std::string default_project;       ///< in whose log it is said what is missing
    std::size_t waiting_max = 20'000;  ///< decisions that wait for the disk, a kilobyte each
  };
  /// Blocks. `clock` outlives it. Errors: the file system's.
  [[nodiscard]] static Result<std::unique_ptr<AuditLog>> Open(const Clock& clock, Options options);
  /// Blocks until all is durable; what the disk refuses then is lost, which the server's log says.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// Any thread; does not block. `project`: ProjectOf(line, ...).
  void Add(access::AuditLine line, std::string project);

  /// Blocks until what was added is durable, or the disk has refused it. Any thread but its own.
  void Flush();

 private:
  struct State;
  explicit AuditLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::audit
