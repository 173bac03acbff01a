#include "programs/lines/stderr_entries.h"

#include <gtest/gtest.h>

#include <vector>

#include "programs/lines/line_splitter.h"

namespace trainyard::replica::stderr_entries_test {
namespace {

using logging::v2::LogEntry;
using Texts = std::vector<std::string>;

struct Row {
  const char* name;
  Texts lines;
  Texts entries;
  Texts released{};  ///< the entry that was held at the end
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr const char* kHead = "Traceback (most recent call last):";
constexpr const char* kCause = "The above exception was the direct cause of the following exception:";
constexpr const char* kNode = "Detected at node embedding defined at (most recent call last):";
constexpr const char* kWorker = "Original Traceback (most recent call last):";

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
        // What TensorFlow 2.15 prints.
        Row{"frames_before_the_reason",
            {kHead, "  File \"x\", line 1", "E: Graph execution error:", "", kNode, "  File \"x\", line 9",
             "", "  File \"x\", line 8", "", "indices[0,0] = 12 is not in [0, 10)",
             "\t [[{{node embedding}}]] [Op:__inference_train_function_474]", "after"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: Graph execution "
             "error:\n\nDetected "
             "at node embedding defined at (most recent call last):\n  File \"x\", line 9\n\n  File \"x\", "
             "line 8\n\nindices[0,0] = 12 is not in [0, 10)\n\t [[{{node embedding}}]] "
             "[Op:__inference_train_function_474]",
             "after"}},
        Row{"no_frames_before_the_reason",
            {kHead, "  File \"x\", line 1", "E: Graph execution error:", "", kNode,
             "<stack traces unavailable>", kNode, "<stack traces unavailable>", "2 root error(s) found.",
             "  (0) INVALID_ARGUMENT:  no", "0 successful operations.",
             "0 derived errors ignored. [Op:__inference_f_12]", "after"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: Graph execution "
             "error:\n\nDetected "
             "at node embedding defined at (most recent call last):\n<stack traces unavailable>\nDetected at "
             "node embedding defined at (most recent call last):\n<stack traces unavailable>\n2 root "
             "error(s) "
             "found.\n  (0) INVALID_ARGUMENT:  no\n0 successful operations.\n0 derived errors ignored. "
             "[Op:__inference_f_12]",
             "after"}},
        // TensorFlow 2.7 to 2.14.
        Row{"node_before_the_reason",
            {kHead, "  File \"x\", line 1", "E: Graph execution error:", "", kNode, "    File \"x\", line 9",
             "      y()", "Node: 'embedding'", "not in [0, 10)", "after"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: Graph execution "
             "error:\n\nDetected "
             "at node embedding defined at (most recent call last):\n    File \"x\", line 9\n      "
             "y()\nNode: 'embedding'\nnot in [0, 10)",
             "after"}},
        Row{"frames_without_a_reason",
            {kHead, "  File \"x\", line 1", "E: Graph execution error:", "", kNode, "", kHead, "  z", "F: w",
             "x"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nE: Graph execution "
             "error:\n\nDetected "
             "at node embedding defined at (most recent call last):",
             "Traceback (most recent call last):\n  z\nF: w", "x"}},
        // The text that PyTorch's DataLoader forwards from a worker.
        Row{"of_a_worker",
            {kHead, "  File \"x\", line 1", "KeyError: Caught KeyError in DataLoader worker process 0.",
             kWorker, "  File \"w\", line 2", "    d[k]", "    ~^^^", "KeyError: 'image'", "", "after"},
            {"Traceback (most recent call last):\n  File \"x\", line 1\nKeyError: Caught KeyError in "
             "DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n  File \"w\", line "
             "2\n    d[k]\n    ~^^^\nKeyError: 'image'",
             "after"}},
        Row{"chain_of_a_worker_in_a_chain",
            {kHead,   "  a",  "E: Caught E in DataLoader worker process 0.",
             kWorker, "  b",  "F: 1",
             "",      kCause, "",
             kHead,   "  c",  "E: 2",
             "",      "",     kCause,
             "",      kHead,  "  d",
             "G: 3",  "after"},
            {"Traceback (most recent call last):\n  a\nE: Caught E in DataLoader worker process 0.\nOriginal "
             "Traceback (most recent call last):\n  b\nF: 1\n\nThe above exception was the direct cause of "
             "the "
             "following exception:\n\nTraceback (most recent call last):\n  c\nE: 2\n\n\nThe above exception "
             "was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  "
             "d\nG: 3",
             "after"}},
        Row{"what_only_quotes_a_header",
            {"no Traceback (most recent call last):", "  a"},
            {"no Traceback (most recent call last):", "  a"}},
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
}  // namespace trainyard::replica::stderr_entries_test
