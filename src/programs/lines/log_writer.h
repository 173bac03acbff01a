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
#include "programs/lines/line_splitter.h"
#include "programs/lines/stderr_entries.h"
#include "programs/lines/traceback.h"
#include "rules/diagnosis/observation.h"

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

/// The last lines that a program wrote, for whoever has to say why it ended. Costs a copy of some bytes per
/// line and no allocation. Pure; one thread.
class OutputTail {
 public:
  static constexpr std::size_t kLinesMax = 64;
  /// What is kept of a line: of one that holds several (a logged traceback), the last.
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

/// Where a replica's process writes.
enum class OutputStream : std::size_t { kStdout, kStderr, kStructured };
inline constexpr std::array kStreams = {OutputStream::kStdout, OutputStream::kStderr,
                                        OutputStream::kStructured};
inline constexpr std::size_t kStreamCount = kStreams.size();

/// A chunk is closed before it grows beyond this (one line may be larger).
inline constexpr std::size_t kChunkBytesMax = std::size_t{128} << 10;

/// Makes lines of what the replica writes, stamps and numbers them, and appends them to the spool in chunks.
/// Lines are in memory until Flush. One thread.
class LogWriter {
 public:
  /// `now_ns`: nanoseconds since 1970. `mask`: what no line may show, however the program writes it.
  LogWriter(Spool& spool, std::function<std::uint64_t()> now_ns, LogAllowance allowance = {},
            text::SecretMask mask = {})
      : spool_(spool), now_ns_(std::move(now_ns)), allowance_(allowance), mask_(std::move(mask)) {}

  /// Bytes as they were read. Feed only while there is_room().
  void Feed(OutputStream stream, std::string_view bytes);
  /// The stream has ended: its last line may lack a newline.
  void Finish(OutputStream stream);
  /// An entry of several lines that is held until it is whole (StderrEntries): whether there is one, a number
  /// that changes with each line of it, and its end where nothing more seems to come.
  [[nodiscard]] bool holds_entry() const noexcept { return stderr_entries_.holds(); }
  [[nodiscard]] std::size_t lines_held() const noexcept { return stderr_entries_.lines_held(); }
  void ReleaseEntry();
  /// A line of what a tool or the user's own build wrote before the program ran: in the words of Say, and
  /// within the allowance.
  void Relay(logging::v2::LogEntry::Severity severity, std::string_view text);
  /// Says what the allowance has to say. Call in every round, and with `at_end` before the last lines.
  void SayDropped(bool at_end);
  /// A line of the supervisor's own, within no allowance, as the original's runner wrote them: with level and
  /// place as fields.
  void Say(logging::v2::LogEntry::Severity severity, std::string_view text);

  /// Appends what is pending to the spool. An error leaves it pending: the same call again, later.
  [[nodiscard]] Status Flush();
  [[nodiscard]] bool pending() const noexcept { return count_ > 0; }
  [[nodiscard]] bool has_room() const noexcept { return lines_.size() < kChunkBytesMax; }
  /// Lines made so far: the number of the next one.
  [[nodiscard]] std::int64_t next_line() const noexcept { return first_line_ + count_; }
  /// The last Python traceback, cut; empty if there was none.
  [[nodiscard]] std::string Traceback() const { return CutTraceback(traceback_); }
  /// What is held of stderr can be whole: it is no traceback that lacks its exception.
  [[nodiscard]] bool entry_can_be_whole() const noexcept { return stderr_entries_.can_be_whole(); }
  [[nodiscard]] const text::SecretMask& mask() const noexcept { return mask_; }
  /// What of the output is kept.
  [[nodiscard]] LogAllowance& allowance() noexcept { return allowance_; }
  [[nodiscard]] const LogAllowance& allowance() const noexcept { return allowance_; }
  /// The last lines of what was fed, kept or not.
  [[nodiscard]] OutputTail& tail() noexcept { return tail_; }

 private:
  void Line(OutputStream stream, std::string_view text);
  void Entry(OutputStream stream, std::string_view text);
  /// Keeps of an entry what tells why a program ends.
  void Note(std::string_view text, bool is_error);
  void Add();
  void Hide(google::protobuf::Struct& fields) const;
  void Hide(google::protobuf::Value& value) const;

  Spool& spool_;
  std::function<std::uint64_t()> now_ns_;
  LogAllowance allowance_;
  text::SecretMask mask_;
  std::array<text::MaskedStream, kStreamCount> masked_;
  std::array<LineSplitter, kStreamCount> splitters_;
  Stamper stamper_;
  StderrEntries stderr_entries_;
  std::string traceback_;  ///< the last one, or chain of them
  OutputTail tail_;
  v1::LogLine line_;   ///< the one at hand, reused
  std::string lines_;  ///< pending ones: a serialized LogLines
  std::int64_t first_line_ = 0;
  int count_ = 0;
  std::uint64_t first_stamp_ = 0;
  std::uint64_t last_stamp_ = 0;
};

}  // namespace trainyard::replica
