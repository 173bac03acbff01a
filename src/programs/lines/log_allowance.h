#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::replica {

/// What a line takes in the log besides its text: stamp, severity, sizes.
inline constexpr std::int64_t kLineOverheadBytes = 20;
/// How often it is said how much was dropped, while more is.
inline constexpr std::uint64_t kDroppedNoteIntervalNs = 300ULL * 1'000'000'000;

/// Which lines of a program's output are kept. The output is read all the same, so the program goes on; what
/// is dropped is counted and said. Pure; one thread.
class LogAllowance {
 public:
  /// Bytes of one attempt's output, and of the whole job's log (for the note); 0: no limit.
  struct Limits {
    std::int64_t attempt_bytes = 0;
    std::int64_t job_bytes = 0;
  };
  struct Dropped {
    std::int64_t lines = 0;
    std::int64_t bytes = 0;
    friend bool operator==(const Dropped&, const Dropped&) = default;
  };

  LogAllowance() = default;
  explicit LogAllowance(Limits limits) : limits_(limits) {}

  /// Whether a line with `bytes` of text is kept; if not, it is counted. Once one was over a limit, none is.
  [[nodiscard]] bool Keep(std::size_t bytes);
  /// The server says that the job's log is full: nothing more is kept.
  void CloseForJob();
  /// Lines cannot be stored for now (no disk, no server): none are kept until Release.
  void Hold();
  void Release();
  [[nodiscard]] bool held() const noexcept { return held_; }

  /// What is to be said in the log now, if anything: that lines begin to be dropped and where the limit is
  /// set, how many were dropped so far (now and then, after Release, and `at_end`).
  [[nodiscard]] std::optional<std::string> Note(std::uint64_t now_ns, bool at_end);

  /// Dropped since Forget: for the next chunk, whose being stored is followed by Forget.
  [[nodiscard]] const Dropped& unreported() const noexcept { return unreported_; }
  void Forget() { unreported_ = {}; }

 private:
  enum class Why { kNothing, kAttempt, kJob };
  [[nodiscard]] std::string Reason() const;
  [[nodiscard]] std::string Begins() const;

  Limits limits_;
  std::int64_t kept_ = 0;
  Why closed_ = Why::kNothing;
  bool held_ = false;
  bool begun_ = false;     ///< that lines are dropped was said
  bool released_ = false;  ///< since the last note
  Dropped all_;
  Dropped said_;
  std::uint64_t said_at_ns_ = 0;
  Dropped unreported_;
};

}  // namespace trainyard::replica
