#include "lines/stderr_entries.h"

#include <gtest/gtest.h>

#include <vector>

#include "lines/line_splitter.h"

namespace trainyard::replica {
namespace {

using logging::v2::LogEntry;
using Texts = std::vector<std::string>;

struct Row {
  const char* name;
  Texts lines;
  Texts entries;
  Texts released{};  ///< what was held at the end
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr const char* kHead = "Traceback (most recent call last):";
constexpr const char* kCause = "The above exception was the direct cause of the following exception:";

class StderrEntriesTest : public testing::TestWithParam<Row> {};
TEST_P(StderrEntriesTest, AsExpected) {
  StderrEntries entries;
  Texts found;
  const auto sink = [&found](std::string_view text) { found.emplace_back(text); };
  for (const std::string& line : GetParam().lines) entries.Line(line, sink);
  EXPECT_EQ(found, GetParam().entries);
  found.clear();
  EXPECT_EQ(entries.holds(), !GetParam().released.empty());
  entries.Release(sink);
  EXPECT_EQ(found, GetParam().released);
  EXPECT_FALSE(entries.holds());
}
INSTANTIATE_TEST_SUITE_P(
    Rules, StderrEntriesTest,
    testing::Values(
        Row{"lines", {"a", "", " b"}, {"a", "", " b"}},
        Row{"traceback",
            {"a", kHead, "  File \"x\", line 1", "    y()", "E: z", "after"},
            {"a", "Traceback (most recent call last):\n  File \"x\", line 1\n    y()\nE: z", "after"}},
        Row{"held_until_more_comes",
            {kHead, "  File \"x\", line 1", "E: z", ""},
            {},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: z"}},
        Row{"cut_off",
            {kHead, "  File \"x\", line 1"},
            {},
            {"Traceback (most recent call last):\n  File \"x\", line 1"}},
        Row{"chain",
            {kHead, "  File \"x\", line 1", "E: z", "", kCause, "", kHead, "  File \"y\", line 2", "F: w",
             "after"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: z\n\nThe above exception was the "
             "direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"y\", "
             "line 2\nF: w",
             "after"}},
        Row{"two_that_are_no_chain",
            {kHead, "  File \"x\", line 1", "E: z", "", kHead, "  File \"y\", line 2", "F: w", "x"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: z",
             "Traceback (most recent call last):\n  File \"y\", line 2\nF: w", "x"}},
        Row{"message_of_several_lines",
            {kHead, "  File \"x\", line 1", "E: 2 root error(s) found.", "  (0) Invalid argument: no",
             "\t [[node add]]", "0 successful operations.", "0 derived errors ignored.", "",
             "Original stack trace for 'add':", "  File \"x\", line 9", "    y()", "", "after"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: 2 root error(s) found.\n  (0) "
             "Invalid "
             "argument: no\n\t [[node add]]\n0 successful operations.\n0 derived errors ignored.\n\nOriginal "
             "stack trace for 'add':\n  File \"x\", line 9\n    y()",
             "after"}},
        Row{"warning_with_its_source_line",
            {"/w/t.py:3: UserWarning: odd", "  warnings.warn('odd')", "  more"},
            {"/w/t.py:3: UserWarning: odd\n  warnings.warn('odd')", "  more"}},
        Row{"warning_alone",
            {"<stdin>:1: numpy.VisibleDeprecationWarning: old", "next"},
            {"<stdin>:1: numpy.VisibleDeprecationWarning: old", "next"}},
        Row{"warning_at_the_end", {"t.py:3: UserWarning: odd"}, {}, {"t.py:3: UserWarning: odd"}}),
    [](const auto& row) { return row.param.name; });

TEST(StderrEntries, WhatNeverEndsIsNotHeld) {
  StderrEntries entries;
  std::size_t bytes = 0;
  const auto sink = [&bytes](std::string_view text) { bytes += text.size(); };
  const std::string frame = "  File " + std::string(1000, 'x');
  entries.Line(kHead, sink);
  for (int i = 0; i < 1000; ++i) entries.Line(frame, sink);
  EXPECT_GT(bytes, 1'000'000 - kLineBytesMax);
}

struct SeverityRow {
  const char* line;
  std::optional<LogEntry::Severity> severity;
};
TEST(SeverityOfPythonLine, KnowsLoggingAndWarnings) {
  const std::vector<SeverityRow> rows = {
      {"WARNING:root:careful", LogEntry::WARNING},
      {"INFO:tensorflow:loss = 0.5, step = 1", LogEntry::INFO},
      {"DEBUG:a.b_2:x", LogEntry::DEBUG},
      {"ERROR:root:", LogEntry::ERROR},
      {"CRITICAL:root:x", LogEntry::CRITICAL},
      {"WARNING: pip is old: upgrade", std::nullopt},
      {"ERROR:no colon after this", std::nullopt},
      {"WARNING::x", std::nullopt},
      {"Warning:root:x", std::nullopt},
      {"/usr/lib/a.py:12: DeprecationWarning: old", LogEntry::WARNING},
      {"/usr/lib/a.py:12: np.RankWarning: poor\n  np.polyfit()", LogEntry::WARNING},
      {"a.py:x: UserWarning: no", std::nullopt},
      {"  a.py:1: UserWarning: no", std::nullopt},
      {"UserWarning: no", std::nullopt},
      {"a: two words Warning: no", std::nullopt},
      {"", std::nullopt},
  };
  for (const SeverityRow& row : rows) EXPECT_EQ(SeverityOfPythonLine(row.line), row.severity) << row.line;
}

}  // namespace
}  // namespace trainyard::replica
