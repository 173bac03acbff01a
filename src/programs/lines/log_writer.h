#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text/secret_mask.h"
#include "programs/attempt/spool.h"
#include "programs/lines/redraws.h"
#include "programs/lines/stderr_entries.h"
#include "rules/diagnosis/observation.h"

namespace trainyard::replica {

/// The size of a line in the log apart from its text: stamp, severity, sizes.
inline constexpr std::int64_t kLineOverheadBytes = 20;
/// How often the log says how many lines were dropped, while more are being dropped.
inline constexpr std::uint64_t kDroppedNoteIntervalNs = 300ULL * 1'000'000'000;

/// Decides which lines of a program's output are kept. All output is read, so the program is never blocked;
/// dropped lines are counted and reported. Pure; one thread.
class LogAllowance {
 public:
  /// The limits in bytes for one attempt's output and for the whole job's log (only for the note); 0: no
  /// limit.
  struct Limits {
    std::int64_t attempt_bytes = 0;
    std::int64_t job_bytes = 0;
  };
  struct Loss {
    std::int64_t lines = 0;
    std::int64_t bytes = 0;
    friend bool operator==(const Loss&, const Loss&) = default;
  };

  LogAllowance() = default;
  explicit LogAllowance(Limits limits) : limits_(limits) {}

  /// Whether a line with `bytes` of text is kept; if not, it is counted. Once a line was over a limit, no
  /// further line is kept.
  [[nodiscard]] bool Keep(std::size_t bytes);
  /// Call it when the server says that the job's log is full: nothing more is kept.
  void CloseForJob();
  /// Call it when lines cannot be stored for now (no disk, no server): none are kept until Release.
  void Hold();
  void Release();
  [[nodiscard]] bool held() const noexcept { return held_; }

  /// The line that the log needs now, if any: that lines begin to be dropped and where the limit is set, or
  /// how many were dropped so far (at intervals, after Release, and `at_end`).
  [[nodiscard]] std::optional<std::string> Note(std::uint64_t now_ns, bool at_end);

  /// The lines dropped since Forget, for the next chunk. Call Forget once that chunk is stored.
  [[nodiscard]] const Loss& unreported() const noexcept { return unreported_; }
  void Forget() { unreported_ = {}; }

 private:
  enum class Why { kNothing, kAttempt, kJob };
  [[nodiscard]] std::string Reason() const;
  [[nodiscard]] std::string Begins() const;

  Limits limits_;
  std::int64_t kept_ = 0;
  Why closed_ = Why::kNothing;
  bool held_ = false;
  bool begun_ = false;     ///< the log says that lines are dropped
  bool released_ = false;  ///< since the last note
  Loss all_;
  Loss said_;
  std::uint64_t said_at_ns_ = 0;
  Loss unreported_;
};

/// The last lines that a program wrote, to explain why it ended. Costs a copy of some bytes per line and no
/// allocation. Pure; one thread.
class OutputTail {
 public:
  static constexpr std::size_t kLinesMax = 64;
  /// How much of a line is kept; of an entry with several lines (a logged traceback), the last one is kept.
  static constexpr std::size_t kLineBytesMax = 256;

  void Add(std::string_view line, bool is_error) noexcept;
  void Clear() noexcept { count_ = 0; }
  /// Oldest first.
  [[nodiscard]] std::vector<diagnosis::OutputLine> Lines() const;

 private:
  struct Slot {
    std::array<char, kLineBytesMax> bytes;
    std::uint16_t size = 0;
    bool is_error = false;
  };
  std::array<Slot, kLinesMax> slots_{};
  std::size_t count_ = 0;  ///< lines so far
};

/// Gives each line of an attempt its time: nanoseconds since 1970 that strictly increase and are odd,
/// whatever the clock does. Odd, so that JSON always prints nine fraction digits (clients compare timestamps
/// as text). Pure.
class Stamper {
 public:
  [[nodiscard]] std::uint64_t Next(std::uint64_t now_ns) noexcept {
    const std::uint64_t odd = now_ns | 1;
    last_ = odd > last_ ? odd : last_ + 2;
    return last_;
  }

 private:
  std::uint64_t last_ = 0;
};

/// The streams to which a replica's process writes.
enum class OutputStream : std::size_t { kStdout, kStderr, kStructured };
inline constexpr std::array kStreams = {OutputStream::kStdout, OutputStream::kStderr,
                                        OutputStream::kStructured};
inline constexpr std::size_t kStreamCount = kStreams.size();

/// A chunk is closed before it grows beyond this (one line may be larger).
inline constexpr std::size_t kChunkBytesMax = std::size_t{128} << 10;

/// Splits the replica's output into lines, stamps and numbers them, and appends them to the spool in chunks.
/// Lines are in memory until Flush. One thread.
class LogWriter {
 public:
  /// `now_ns`: returns nanoseconds since 1970. `mask`: secrets that no line may show, however the program
  /// writes them.
  LogWriter(Spool& spool, std::function<std::uint64_t()> now_ns, LogAllowance allowance = {},
            text::SecretMask mask = {})
      : spool_(spool), now_ns_(std::move(now_ns)), allowance_(allowance), mask_(std::move(mask)) {}

  /// Adds bytes as they were read. Call it only while has_room().
  void Feed(OutputStream stream, std::string_view bytes);
  /// Call it at the end of the stream, whose last line may lack a newline.
  void Finish(OutputStream stream);
  /// An entry of several lines is held until it is complete (StderrEntries). These functions tell whether
  /// there is one and how many lines it has had (to notice new ones), and end it if nothing more seems to
  /// come.
  [[nodiscard]] bool holds_entry() const noexcept { return stderr_entries_.holds(); }
  [[nodiscard]] std::size_t lines_held() const noexcept { return stderr_entries_.lines_held(); }
  void ReleaseEntry();
  /// Whether output waits for the end of its line (Redraws). Then call Tick about once a second.
  [[nodiscard]] bool holds_output() const noexcept;
  void Tick();
  /// Adds a line that a tool or the user's own build wrote before the program ran: formatted as by Say, but
  /// within the allowance.
  void Relay(logging::v2::LogEntry::Severity severity, std::string_view text);
  /// Adds the allowance's note, if there is one. Call it in every round, and with `at_end` before the last
  /// lines.
  void SayDropped(bool at_end);
  /// Adds a line of the supervisor itself, without regard to the allowance, formatted as by the original's
  /// runner: with level and source location as fields.
  void Say(logging::v2::LogEntry::Severity severity, std::string_view text);

  /// Appends pending lines to the spool. After an error they stay pending: call it again later.
  [[nodiscard]] Status Flush();
  [[nodiscard]] bool pending() const noexcept { return count_ > 0; }
  [[nodiscard]] bool has_room() const noexcept { return lines_.size() < kChunkBytesMax; }
  /// The number of lines so far, which is the number of the next one.
  [[nodiscard]] std::int64_t next_line() const noexcept { return first_line_ + count_; }
  /// The last Python traceback, cut; empty if there was none.
  [[nodiscard]] std::string Traceback() const { return CutTraceback(traceback_); }
  /// Whether the held entry can be complete: it is not a traceback that lacks its exception.
  [[nodiscard]] bool entry_can_be_whole() const noexcept { return stderr_entries_.can_be_whole(); }
  [[nodiscard]] const text::SecretMask& mask() const noexcept { return mask_; }
  /// Decides which output is kept.
  [[nodiscard]] LogAllowance& allowance() noexcept { return allowance_; }
  [[nodiscard]] const LogAllowance& allowance() const noexcept { return allowance_; }
  /// The last lines of the output, whether they were kept or not.
  [[nodiscard]] OutputTail& tail() noexcept { return tail_; }

 private:
  [[nodiscard]] Redraws::Sink SinkOf(OutputStream stream);
  void Line(OutputStream stream, std::string_view text, Redraws::Kind kind);
  void Entry(OutputStream stream, std::string_view text, Redraws::Kind kind = Redraws::Kind::kLine);
  /// Remembers the parts of an entry that tell why a program ended.
  void Note(std::string_view text, bool is_error);
  void Add();
  void Hide(google::protobuf::Struct& fields) const;
  void Hide(google::protobuf::Value& value) const;

  Spool& spool_;
  std::function<std::uint64_t()> now_ns_;
  LogAllowance allowance_;
  text::SecretMask mask_;
  std::array<text::MaskedStream, kStreamCount> masked_;
  std::array<Redraws, kStreamCount> redraws_;
  Stamper stamper_;
  StderrEntries stderr_entries_;
  std::string traceback_;  ///< the last one, or chain of them
  OutputTail tail_;
  v1::LogLine line_;   ///< the current line, reused
  std::string lines_;  ///< pending ones: a serialized LogLines
  std::int64_t first_line_ = 0;
  int count_ = 0;
  std::uint64_t first_stamp_ = 0;
  std::uint64_t last_stamp_ = 0;
};

}  // namespace trainyard::replica
