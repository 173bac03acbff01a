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

/// Stores audit decisions: on disk within little more than kGather, durable within kSyncEvery, and all of
/// them before the destructor returns. Add() never waits. The queue for the disk is bounded: decisions beyond
/// the bound are only counted, and a separate entry says how many are missing as soon as the disk can be
/// written to again. While the disk refuses (full), writing is retried every kRetryAfter. After a kill -9 the
/// files have everything that was written; the last line may be cut.
///
/// Refusals of unknown callers are bounded, too, because they cost the sender nothing and push out older
/// entries: kNobodyAtOnce, then one every kNobodyEvery; an entry counts the rest.
class AuditLog {
 public:
  /// Decisions that arrive within this time are written together: to wake a thread for each would slow down
  /// the threads that decide.
  static constexpr std::chrono::milliseconds kGather{10};
  static constexpr std::chrono::milliseconds kSyncEvery{1'000};
  static constexpr std::chrono::milliseconds kRetryAfter{1'000};
  static constexpr int kNobodyAtOnce = 200;
  static constexpr std::chrono::seconds kNobodyEvery{10};
  static constexpr std::chrono::seconds kSayEvery{60};  ///< for reports of missing entries
  /// If the clock is turned back by less than this, times in the log continue from the last one.
  static constexpr std::chrono::hours kTurnedBackMax{1};

  struct Options {
    AuditWriter::Options files;
    std::string default_project;       ///< the project in whose log the missing entries are reported
    std::size_t waiting_max = 20'000;  ///< decisions that wait for the disk, a kilobyte each
  };
  /// Blocks. `clock` outlives it. Errors: the file system's.
  [[nodiscard]] static Result<std::unique_ptr<AuditLog>> Open(const Clock& clock, Options options);
  /// Blocks until everything is durable. What the disk then refuses is lost; the server's log says so.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// Any thread; does not block. `project`: ProjectOf(line, ...).
  void Add(access::AuditLine line, std::string project);

  /// Blocks until what was added is durable or the disk has refused it. Any thread but the log's own.
  void Flush();

 private:
  struct State;
  explicit AuditLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::audit
