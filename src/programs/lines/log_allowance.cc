#include "programs/lines/log_allowance.h"

#include <array>
#include <cstdio>
#include <utility>

namespace trainyard::replica {

namespace {

/// "10 GB", "0.5 GB": as the flag has it.
std::string Gigabytes(std::int64_t bytes) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

}  // namespace

bool LogAllowance::Keep(std::size_t bytes) {
  const std::int64_t size = static_cast<std::int64_t>(bytes) + kLineOverheadBytes;
  if (closed_ == Why::kNothing && limits_.attempt_bytes > 0 && kept_ + size > limits_.attempt_bytes)
    closed_ = Why::kAttempt;
  if (closed_ == Why::kNothing && !held_) {
    kept_ += size;
    return true;
  }
  for (Dropped* count : {&all_, &unreported_}) {
    ++count->lines;
    count->bytes += static_cast<std::int64_t>(bytes);
  }
  return false;
}

void LogAllowance::CloseForJob() {
  if (closed_ == Why::kNothing) closed_ = Why::kJob;
}

void LogAllowance::Hold() { held_ = true; }

void LogAllowance::Release() { released_ = std::exchange(held_, false); }

std::string LogAllowance::Reason() const {
  switch (closed_) {
    case Why::kNothing: return "it could not be stored";
    case Why::kAttempt:
      return "its limit is " + Gigabytes(limits_.attempt_bytes) +
             " for a replica (trainyard serve --replica-logs-max-gb)";
    case Why::kJob:
      return "the limit of this job's log is " + Gigabytes(limits_.job_bytes) +
             " (trainyard serve --job-logs-max-gb)";
  }
  return {};
}

std::string LogAllowance::Begins() const {
  return "From here on this replica's output is not kept" +
         std::string(closed_ == Why::kNothing ? " until it can be stored again" : "") + ": " + Reason() +
         ". The program goes on.";
}

std::optional<std::string> LogAllowance::Note(std::uint64_t now_ns, bool at_end) {
  if (all_ == said_ && !released_) return std::nullopt;
  if (!std::exchange(begun_, true)) {
    said_at_ns_ = now_ns;
    if (!at_end && !released_) {
      said_ = {};
      return Begins();
    }
  }
  if (!at_end && !released_ && now_ns < said_at_ns_ + kDroppedNoteIntervalNs) return std::nullopt;
  if (released_ && closed_ == Why::kNothing) begun_ = false;  // it may begin again
  released_ = false;
  said_at_ns_ = now_ns;
  if (all_ == said_) return std::nullopt;
  said_ = all_;
  return std::to_string(all_.lines) + (all_.lines == 1 ? " line" : " lines") + " of this replica's output, " +
         std::to_string(all_.bytes) + " bytes, " + (all_.lines == 1 ? "is" : "are") + " not in this log" +
         (at_end ? "" : " so far") + ": " + Reason() + ".";
}

}  // namespace trainyard::replica
