#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace trainyard::notices {

/// A notice for one destination, until it is delivered or given up.
struct Letter {
  std::int64_t number = 0;  ///< set by the outbox
  std::string destination;
  std::string notice_id;  ///< "17-failed"
  std::string job;
  std::string subject;
  std::string text;
  std::string json;
  SysTime created;
  SysTime due;
  int tries = 0;  ///< failed ones
  friend bool operator==(const Letter&, const Letter&) = default;
};

/// A notice with its letters; without any it is only remembered, so that it is not made again.
struct Posting {
  std::string notice_id;
  SysTime time;
  std::vector<Letter> letters;
};

/// Notices that are not delivered yet, and how far the history of the jobs has been read: DATA/notices.db.
/// Each write is durable when it returns. Blocking; one thread at a time.
class Outbox {
 public:
  /// Letters beyond this number are not kept.
  static constexpr std::int64_t kLettersMax = 10'000;
  /// How long a notice is remembered.
  static constexpr std::chrono::hours kRememberFor{48};

  [[nodiscard]] static Result<std::unique_ptr<Outbox>> Open(const std::string& path);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// The number of the last change that was read (JobStore::EndedSince); nothing: none ever was.
  [[nodiscard]] Result<std::optional<std::int64_t>> LastRead();

  /// Makes that number the last one, and forgets which notices it knows: in a history that was replaced by an
  /// older one, other jobs have their numbers. Letters stay.
  [[nodiscard]] Status BeginAt(std::int64_t last_read);

  /// Stores the letters of notices that it does not know, and the number of the last change that was read, if
  /// there is one, all together. Returns how many letters there was no room for.
  [[nodiscard]] Result<std::int64_t> Post(const std::vector<Posting>& postings,
                                          std::optional<std::int64_t> last_read);

  /// The destination's letter that is due first.
  [[nodiscard]] Result<std::optional<Letter>> Next(const std::string& destination);
  [[nodiscard]] Status Remove(std::int64_t number);
  /// After a failed try.
  [[nodiscard]] Status Postpone(std::int64_t number, SysTime due);
  /// Removes letters for other destinations. Returns how many.
  [[nodiscard]] Result<std::int64_t> RemoveOthers(const std::vector<std::string>& destinations);

 private:
  struct State;
  explicit Outbox(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::notices
