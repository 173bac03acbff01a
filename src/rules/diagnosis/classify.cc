#include "rules/diagnosis/classify.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include "base/wire/runs_bucket.h"
#include "rules/diagnosis/google_buckets.h"
#include "rules/diagnosis/module_names.h"
#include "rules/diagnosis/rule.h"
#include "rules/diagnosis/traceback_lines.h"

namespace trainyard::diagnosis {
namespace {

using replica::v1::Diagnosis;
using replica::v1::ExitRecord;
using Rules = std::span<const Rule>;
using Lines = std::vector<std::string_view>;

/// The maximum number of lines after an uncaught exception: threads and libraries may print at exit.
constexpr std::size_t kTailOfException = 8;
/// Only this many last lines are examined: earlier ones say little about the end.
constexpr std::size_t kEvidenceLinesMax = 12;

constexpr Rule kException{
    .name = "uncaught_exception",
    .meaning = "an exception that is in no other row",
    .summary = "The program raised an exception: {line}.",
    .advice = "The traceback shows where; the replica's last lines show what came before."};

/// The lines with the exceptions' types and messages: first those of the last exception, which ended the
/// program, then those of its causes.
Lines ExceptionLines(const std::vector<Lines>& exceptions) {
  if (exceptions.empty()) return {};
  Lines lines = exceptions.back();
  for (std::size_t i = 0; i + 1 < exceptions.size(); ++i)
    lines.insert(lines.end(), exceptions[i].begin(), exceptions[i].end());
  return lines;
}

/// The exception in one line. TensorFlow has the reason in the following lines.
std::string Headline(const Lines& exception) {
  std::string headline;
  for (std::string_view line : exception) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    headline.append(headline.empty() ? "" : " ").append(line);
    if (!line.ends_with("Graph execution error:") && !line.ends_with(" root error(s) found.")) break;
  }
  return headline;
}

/// Whether the program ended with that exception: it is among the last lines.
bool IsLast(const Lines& exception, const Symptoms& seen) {
  if (exception.empty()) return false;
  const std::size_t count = seen.last_lines.size();
  for (std::size_t i = count - std::min(count, kTailOfException); i < count; ++i) {
    const std::string_view line = seen.last_lines[i].text;
    for (const std::string_view part : exception) {
      if (!part.empty() && (part.starts_with(line) || line.starts_with(part)) && !line.empty()) return true;
    }
  }
  return false;
}

/// The last lines, the latest first; those of stderr before others.
Lines LastLines(const Symptoms& seen) {
  Lines lines;
  for (const bool errors : {true, false}) {
    std::size_t taken = 0;
    for (auto line = seen.last_lines.rbegin(); line != seen.last_lines.rend() && taken < kEvidenceLinesMax;
         ++line) {
      if (line->is_error != errors) continue;
      lines.push_back(line->text);
      ++taken;
    }
  }
  return lines;
}

/// "1.5 GiB", "64 MiB".
std::string Bytes(std::int64_t bytes) {
  constexpr double kMiB = 1 << 20;
  constexpr double kGiB = 1 << 30;
  std::array<char, 32> text{};
  const auto value = static_cast<double>(bytes);
  const int size = value >= kGiB ? std::snprintf(text.data(), text.size(), "%.1f GiB", value / kGiB)
                                 : std::snprintf(text.data(), text.size(), "%.0f MiB", value / kMiB);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

/// The program's last output, for ends that explain nothing.
std::string Said(const Symptoms& seen) {
  const Lines lines = LastLines(seen);
  const auto said = std::ranges::find_if(lines, [](std::string_view line) { return !line.empty(); });
  if (said == lines.end()) return {};
  constexpr std::string_view kForm = "; its last words: {1}";
  return Fill(kForm, {*said}, {});
}

std::string PackageOf(const Symptoms& seen) {
  const std::string_view uri = PackageUri(seen);
  return uri.empty() ? std::string() : " (" + std::string(uri) + ")";
}

/// The first line, without a full stop; an ellipsis stays.
std::string Plain(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.ends_with('.') && !text.ends_with("...")) text.remove_suffix(1);
  return std::string(text);
}

std::vector<TemplateValue> ValuesOf(const Symptoms& seen, std::string_view line) {
  const std::string top = seen.python_module.substr(0, seen.python_module.find('.'));
  constexpr std::string_view kLineForm = "{1}";
  return {{"line", Fill(kLineForm, {line}, {})},
          {"module", seen.python_module},
          {"top", top},
          {"message", Plain(seen.message)},
          {"package", PackageOf(seen)},
          {"status", std::to_string(seen.exit_code)},
          {"google_bucket", std::string(GoogleBucketIn(seen))},
          {"signal", SignalName(seen.signal)},
          {"limit", Bytes(seen.memory_limit_bytes)},
          {"processes", std::to_string(seen.processes_limit)},
          {"peak",
           seen.memory_peak_bytes > 0 ? " (it had used up to " + Bytes(seen.memory_peak_bytes) + ")" : ""},
          {"said", Said(seen)}};
}

/// "Did you mean matplotlib? ": of a module that a rule captured, with a part of it or as a whole.
std::string DidYouMean(const Captures& captures) {
  std::string name;
  for (const std::string_view part : captures) name.append(name.empty() ? "" : ".").append(part);
  const std::string_view meant = MeantModule(name);
  return meant.empty() ? "" : "Did you mean " + std::string(meant) + "? ";
}

/// What the sender can change: requirements.txt or setup.py, a flag of `run` or a field of the job.
std::string_view AdviceFor(const Rule& rule, const Symptoms& seen) {
  const std::string_view own = seen.python_module == wire::kProgramModule ? rule.run_advice
                               : seen.python_module.empty()               ? rule.image_advice
                                                                          : std::string_view();
  return own.empty() ? rule.advice : own;
}

Diagnosis Make(const Rule& rule, const Captures& captures, const Symptoms& seen, std::string_view line) {
  std::vector<TemplateValue> values = ValuesOf(seen, line);
  values.push_back({"did_you_mean", DidYouMean(captures)});
  Diagnosis diagnosis;
  diagnosis.set_name(std::string(rule.name));
  diagnosis.set_summary(Fill(rule.summary, captures, values));
  diagnosis.set_advice(Fill(AdviceFor(rule, seen), captures, values));
  return diagnosis;
}

std::optional<Captures> MatchAny(const Rule& rule, std::string_view line,
                                 std::span<const TemplateValue> values) {
  for (const std::string_view pattern : rule.patterns) {
    if (pattern.empty()) break;
    auto captures = pattern.find('{') == std::string_view::npos ? Match(pattern, line)
                                                                : Match(Fill(pattern, {}, values), line);
    if (captures && (rule.fits == nullptr || rule.fits(*captures))) return captures;
  }
  return std::nullopt;
}

/// The diagnosis of the first line that matches a rule. A rule without patterns matches every line.
std::optional<Diagnosis> AskForLines(std::span<const Rules> tables, const Lines& lines,
                                     const Symptoms& seen) {
  const std::vector<TemplateValue> values = ValuesOf(seen, "");
  for (const std::string_view line : lines) {
    for (const Rules table : tables) {
      for (const Rule& rule : table) {
        if (rule.applies != nullptr && !rule.applies(seen)) continue;
        if (rule.patterns.front().empty()) return Make(rule, {}, seen, line);
        if (const auto captures = MatchAny(rule, line, values)) return Make(rule, *captures, seen, line);
      }
    }
  }
  return std::nullopt;
}

/// The diagnosis of the first rule that matches the end alone.
std::optional<Diagnosis> AskForEnd(Rules table, const Symptoms& seen) {
  for (const Rule& rule : table) {
    if (rule.applies == nullptr || rule.applies(seen)) return Make(rule, {}, seen, "");
  }
  return std::nullopt;
}

/// Whether it was killed, terminated or interrupted: then its output is not the cause.
bool CameFromOutside(const Symptoms& seen) {
  constexpr int kShell = 128;
  const int signal = seen.cause == ExitRecord::SIGNALED ? seen.signal : seen.exit_code - kShell;
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT;
}

std::optional<Diagnosis> FromOutput(const Symptoms& seen) {
  const std::array tables = {AcceleratorRules(), FrameworkRules(), PythonRules(), SystemRules()};
  const std::vector<Lines> exceptions = ExceptionsOf(seen.traceback);
  const Lines exception = ExceptionLines(exceptions);
  const Lines last = LastLines(seen);
  if (!IsLast(exception, seen)) return AskForLines(tables, last, seen);
  if (auto known = AskForLines(tables, exception, seen)) return known;
  if (auto known = AskForLines(std::span(tables).first(1), last, seen)) return known;
  return Make(kException, {}, seen, Headline(exceptions.back()));
}

constexpr std::size_t kCaptureBytesMax = 200;

constexpr std::string_view kEllipsis = "...";

/// Cuts at a character, and at a word if possible.
std::string_view Cut(std::string_view text, std::size_t size) {
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  const std::size_t blank = text.substr(0, size).rfind(' ');
  text = text.substr(0, blank != std::string_view::npos && blank >= size / 2 ? blank : size);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.' || text.back() == ','))
    text.remove_suffix(1);
  return text;
}

/// The first line, without a full stop, with a limited length. An ellipsis stays.
std::string Shorten(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  const bool goes_on = text.ends_with(kEllipsis);
  while (text.ends_with('.') || text.ends_with(' ')) text.remove_suffix(1);
  if (text.size() > kCaptureBytesMax) return std::string(Cut(text, kCaptureBytesMax)).append(kEllipsis);
  return std::string(text).append(goes_on ? kEllipsis : "");
}

/// Whether the sentence needs no additional full stop.
bool EndsSentence(std::string_view text) {
  return text.ends_with(kEllipsis) || text.ends_with('!') || text.ends_with('?');
}

std::string Lookup(std::string_view name, const Captures& captures, std::span<const TemplateValue> values) {
  if (name.size() == 1 && name[0] >= '1' && name[0] <= '9') {
    const auto index = static_cast<std::size_t>(name[0] - '1');
    return index < captures.size() ? Shorten(captures[index]) : std::string();
  }
  for (const TemplateValue& value : values) {
    if (value.name == name) return value.text;
  }
  return {};
}

}  // namespace

std::optional<Diagnosis> Classify(const Symptoms& seen) {
  if (auto known = AskForEnd(KernelRules(), seen)) return known;
  switch (seen.cause) {
    case ExitRecord::PREPARATION_FAILED: {
      const std::array tables = {PreparationRules()};  // the last row matches everything
      return AskForLines(tables, {seen.message}, seen);
    }
    case ExitRecord::EXITED:
      if (seen.exit_code == 0) return std::nullopt;
      [[fallthrough]];
    case ExitRecord::SIGNALED:
      if (!CameFromOutside(seen)) {
        if (auto known = FromOutput(seen)) return known;
      }
      return AskForEnd(EndRules(), seen);
    default: return std::nullopt;
  }
}

std::vector<Entry> Entries() {
  std::vector<Entry> entries = {{kException.name, kException.meaning, kException.advice}};
  for (const Rules table : {KernelRules(), PreparationRules(), AcceleratorRules(), FrameworkRules(),
                            PythonRules(), SystemRules(), EndRules()}) {
    for (const Rule& rule : table) {
      const auto same = std::ranges::find(entries, rule.name, &Entry::name);
      if (same == entries.end()) entries.push_back({rule.name, rule.meaning, rule.advice});
    }
  }
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

std::string_view PackageUri(const Symptoms& seen) {
  for (auto line = seen.last_lines.rbegin(); line != seen.last_lines.rend(); ++line) {
    if (const auto uri = Match("ing the package: *", line->text)) return uri->front();
  }
  return {};
}

std::optional<Captures> Match(std::string_view pattern, std::string_view text) {
  Captures captures;
  std::size_t star = pattern.find('*');
  std::size_t at = text.find(pattern.substr(0, star));
  if (at == std::string_view::npos) return std::nullopt;
  at += star == std::string_view::npos ? 0 : star;
  while (star != std::string_view::npos) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view literal = pattern.substr(0, star);
    const std::size_t end = literal.empty() ? text.size() : text.find(literal, at);
    if (end == std::string_view::npos) return std::nullopt;
    captures.push_back(text.substr(at, end - at));
    at = end + literal.size();
  }
  return captures;
}

std::string Fill(std::string_view form, const Captures& captures, std::span<const TemplateValue> values) {
  std::string filled;
  while (!form.empty()) {
    const std::size_t open = form.find('{');
    const std::size_t close = open == std::string_view::npos ? open : form.find('}', open);
    if (close == std::string_view::npos) return filled.append(form);
    filled.append(form.substr(0, open));
    filled.append(Lookup(form.substr(open + 1, close - open - 1), captures, values));
    form.remove_prefix(close + 1);
    if (form.starts_with('.') && EndsSentence(filled)) form.remove_prefix(1);
  }
  return filled;
}

}  // namespace trainyard::diagnosis
