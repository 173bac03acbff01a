#include "programs/lines/log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

using testing::ElementsAre;

class LogWriterTest : public testing::Test {
 protected:
  std::vector<v1::LogLine> Lines() {
    EXPECT_TRUE(writer_.Flush().has_value());
    std::vector<v1::LogLine> all;
    std::int64_t next_line = 0;
    const auto chunks = ReadSpool(folder_.path() + "/spool", 0);
    EXPECT_TRUE(chunks.has_value());
    for (const v1::LogChunk& chunk : *chunks) {
      EXPECT_EQ(chunk.first_line(), next_line);
      v1::LogLines lines;
      EXPECT_TRUE(lines.ParseFromString(chunk.lines()));
      EXPECT_EQ(chunk.line_count(), lines.line_size());
      EXPECT_EQ(chunk.first_stamp(), lines.line(0).stamp());
      EXPECT_EQ(chunk.last_stamp(), lines.line(lines.line_size() - 1).stamp());
      next_line += chunk.line_count();
      all.insert(all.end(), lines.line().begin(), lines.line().end());
    }
    return all;
  }
  std::vector<std::string> Written() {
    std::vector<std::string> shown;
    for (const v1::LogLine& line : Lines())
      shown.push_back(std::to_string(line.stamp()) + " " +
                      logging::v2::LogEntry::Severity_Name(line.severity()) + " " + line.text());
    return shown;
  }

  TemporaryFolder folder_;
  Spool spool_ = *Spool::Create(folder_.path() + "/spool");
  LogWriter writer_{spool_, [] { return std::uint64_t{100}; }};
};

TEST_F(LogWriterTest, SeveritiesFollowTheStream) {
  writer_.Feed(OutputStream::kStdout, "out\n\n{\"severity\":\"WARNING\",\"message\":\"json\"}\n");
  writer_.Feed(OutputStream::kStderr, "err\nW tensorflow/a.cc:1] tf\n");
  writer_.Feed(OutputStream::kStructured, "{\"severity\":\"DEBUG\",\"message\":\"hook\"}\nnot json\n");
  writer_.Feed(OutputStream::kStdout, "W tensorflow/a.cc:1] stdout is not parsed\nend");
  writer_.Finish(OutputStream::kStdout);
  EXPECT_THAT(Written(), ElementsAre("101 INFO out", "103 WARNING json", "105 ERROR err", "107 WARNING tf",
                                     "109 DEBUG hook", "111 INFO not json",
                                     "113 INFO W tensorflow/a.cc:1] stdout is not parsed", "115 INFO end"));
}

/// An ERROR that only comes from the stream can be told from one that the program named.
TEST_F(LogWriterTest, SaysThatASeverityIsOnlyTheStreams) {
  writer_.Feed(OutputStream::kStdout, "out\n{\"message\":\"x\"}\n");
  const std::vector<std::pair<std::string, bool>> rows = {
      {"100%|####| 3/3", true},
      {R"({"message":"no level"})", true},
      {R"({"severity":"ERROR","message":"bad"})", false},
      {"E tensorflow/a.cc:1] tf", false},
      {"ERROR:root:bad", false},
      {"WARNING:root:careful", false},
      {"ERROR: no logger", true},
      {"Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 1", false},
      {"bye", true},
  };
  for (const auto& [text, of_stream] : rows) writer_.Feed(OutputStream::kStderr, text + "\n");
  writer_.Finish(OutputStream::kStderr);
  writer_.Say(logging::v2::LogEntry::ERROR, "The replica exited.");
  std::vector<bool> found;
  for (const v1::LogLine& line : Lines()) found.push_back(line.severity_of_stream());
  std::vector<bool> expected = {false, false};
  for (const auto& [text, of_stream] : rows) expected.push_back(of_stream);
  expected.push_back(false);
  EXPECT_EQ(found, expected);
}

TEST_F(LogWriterTest, HidesSecretsHoweverTheyAreWritten) {
  LogWriter writer(
      spool_, [] { return std::uint64_t{100}; }, LogAllowance(), text::SecretMask({"hunter2", "two\nlines"}));
  writer.Feed(OutputStream::kStdout, "a hun");
  writer.Feed(OutputStream::kStdout, "ter2 b\nlines\n");
  const std::string long_line = std::string(kLineBytesMax - 3, 'x') + "hunter2y\n";  // cut within the value
  writer.Feed(OutputStream::kStdout, long_line);
  writer.Feed(OutputStream::kStructured,
              R"({"message": "m \u0068unter2", "k": {"hunter2": ["\u0068unter2", 3]}})"
              "\n");
  writer.Feed(OutputStream::kStderr,
              "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'hunter2'\n");
  writer.Say(logging::v2::LogEntry::INFO, "Running command: hunter2");
  writer.Feed(OutputStream::kStderr, "last hunter2");
  writer.Finish(OutputStream::kStderr);
  ASSERT_TRUE(writer.Flush().has_value());
  std::string all = writer.Traceback();
  EXPECT_NE(all.find("KeyError: '***'"), std::string::npos) << all;
  for (const diagnosis::OutputLine& line : writer.tail().Lines()) all += line.text;
  const auto chunks = ReadSpool(folder_.path() + "/spool", 0);
  ASSERT_TRUE(chunks);
  std::string texts;
  for (const v1::LogChunk& chunk : *chunks) {
    v1::LogLines lines;
    ASSERT_TRUE(lines.ParseFromString(chunk.lines()));
    for (const v1::LogLine& line : lines.line()) {
      all += line.DebugString();
      if (line.text().size() < 100) texts += line.text() + "|";
    }
  }
  EXPECT_EQ(all.find("hunter2"), std::string::npos);
  EXPECT_EQ(texts,
            "a *** b|***|y|m ***|Running command: ***|"
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: '***'|last ***|");
}

TEST_F(LogWriterTest, ATracebackOnStdoutIsNotTakenForAHeaderAlone) {
  LogWriter writer(spool_, [] { return std::uint64_t{100}; });
  writer.Feed(OutputStream::kStdout, "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'\n");
  EXPECT_EQ(writer.Traceback(), "");
}

TEST_F(LogWriterTest, APauseWithinAChainLosesNothingOfIt) {
  LogWriter writer(spool_, [] { return std::uint64_t{100}; });
  writer.Feed(OutputStream::kStderr, "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'\n");
  writer.ReleaseEntry();
  writer.Feed(OutputStream::kStderr,
              "\nDuring handling of the above exception, another exception occurred:\n\n"
              "Traceback (most recent call last):\n  File \"b.py\"\nValueError: y\n");
  writer.Finish(OutputStream::kStderr);
  EXPECT_THAT(writer.Traceback(), testing::HasSubstr("KeyError: 'x'"));
  EXPECT_THAT(writer.Traceback(), testing::HasSubstr("ValueError: y"));
}

TEST_F(LogWriterTest, AProgressBarIsNoError) {
  writer_.Feed(OutputStream::kStderr, "\r 0/9");
  writer_.Feed(OutputStream::kStderr, "\r 9/9\nerr\n");
  writer_.Feed(OutputStream::kStdout, std::string(kLineBytesMax, 'x') + "y\n");
  const std::vector<v1::LogLine> lines = Lines();
  ASSERT_EQ(lines.size(), 5U);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_EQ(lines[i].text(), i == 0 ? " 0/9" : " 9/9");
    EXPECT_TRUE(lines[i].redraw());
    EXPECT_EQ(lines[i].severity(), logging::v2::LogEntry::INFO);
  }
  EXPECT_EQ(lines[2].severity(), logging::v2::LogEntry::ERROR);
  EXPECT_FALSE(lines[3].continued());
  EXPECT_TRUE(lines[4].continued());
  EXPECT_EQ(lines[4].text(), "y");
}

TEST_F(LogWriterTest, AJsonObjectKeepsItsSeverityHoweverLongItIs) {
  const std::string text(kLineBytesMax + 7, 'x');
  writer_.Feed(OutputStream::kStdout, R"({"severity":"CRITICAL","step":3,"message":")" + text + "\"}\n");
  writer_.Feed(OutputStream::kStdout, R"({"severity":"WARNING","message":"m","blob":")" + text + "\"}\n");
  const std::vector<v1::LogLine> lines = Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].severity(), logging::v2::LogEntry::CRITICAL);
  EXPECT_TRUE(lines[0].cut());
  EXPECT_EQ(lines[0].json().fields().at("step").number_value(), 3);
  EXPECT_LE(lines[0].text().size() + lines[0].json().ByteSizeLong(), kLineBytesMax);
  EXPECT_EQ(lines[1].severity(), logging::v2::LogEntry::WARNING);
  EXPECT_EQ(lines[1].text(), "m");
  EXPECT_TRUE(lines[1].cut());
  EXPECT_FALSE(lines[1].has_json());
}

TEST_F(LogWriterTest, ATracebackBehindAProgressBarIsSeen) {
  writer_.Feed(OutputStream::kStderr, "\r  0%|     | 0/9 [00:00<?, ?it/s]");
  writer_.Feed(OutputStream::kStderr, "\r 44%|## | 4/9 [00:01<00:01, 3it/s]");
  writer_.Feed(OutputStream::kStderr, "Traceback (most recent call last):\n  File \"a\", line 1\nE: 1\n");
  writer_.Finish(OutputStream::kStderr);
  EXPECT_EQ(writer_.Traceback(), "Traceback (most recent call last):\n  File \"a\", line 1\nE: 1");
  EXPECT_EQ(writer_.tail().Lines().back().text, "E: 1");
}

TEST_F(LogWriterTest, APauseBeforeWhatAWorkerRaisedLosesNothingOfIt) {
  writer_.Feed(OutputStream::kStderr,
               "Traceback (most recent call last):\n  File \"a\", line 1\nE: Caught E\n");
  writer_.ReleaseEntry();
  writer_.Feed(OutputStream::kStderr,
               "Original Traceback (most recent call last):\n  File \"b\", line 2\nE: 1\n");
  writer_.Finish(OutputStream::kStderr);
  EXPECT_EQ(writer_.Traceback(),
            "Traceback (most recent call last):\n  File \"a\", line 1\nE: Caught E\n"
            "Original Traceback (most recent call last):\n  File \"b\", line 2\nE: 1");
  EXPECT_EQ(writer_.tail().Lines().back().text, "E: 1");
}

TEST_F(LogWriterTest, KeepsWhatIsAllowedAndSaysWhatIsNot) {
  LogWriter writer(spool_, [] { return std::uint64_t{100}; }, LogAllowance({.attempt_bytes = 100}));
  writer.Feed(OutputStream::kStdout, "one\ntwo\n" + std::string(80, 'x') + "\nthree\n");
  writer.Relay(logging::v2::LogEntry::INFO, "a tool");
  writer.SayDropped(false);
  writer.Feed(OutputStream::kStderr, "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 1\n");
  writer.Finish(OutputStream::kStderr);
  ASSERT_TRUE(writer.Flush().has_value());
  writer.SayDropped(true);
  writer.Say(logging::v2::LogEntry::INFO, "Module completed");
  ASSERT_TRUE(writer.Flush().has_value());
  const auto chunks = ReadSpool(folder_.path() + "/spool", 0);
  ASSERT_EQ(chunks->size(), 2U);
  EXPECT_EQ(chunks->at(0).dropped_lines(), 4);
  EXPECT_EQ(chunks->at(0).dropped_bytes(), 80 + 5 + 6 + 34 + 1 + 13 + 1 + 11);
  EXPECT_EQ(chunks->at(1).dropped_bytes(), 0);
  std::vector<std::string> texts;
  for (const v1::LogChunk& chunk : *chunks) {
    v1::LogLines lines;
    ASSERT_TRUE(lines.ParseFromString(chunk.lines()));
    for (const v1::LogLine& line : lines.line()) texts.push_back(line.text());
  }
  EXPECT_THAT(texts, ElementsAre("one", "two",
                                 testing::StartsWith("From here on, this replica's output is not stored"),
                                 testing::StartsWith("4 lines of this replica's output, 151 bytes, are not"),
                                 "Module completed"));
  EXPECT_THAT(writer.Traceback(), testing::HasSubstr("KeyError: 1")) << "the reason of a failure is kept";
  EXPECT_EQ(writer.tail().Lines().back().text, "KeyError: 1");
}

TEST_F(LogWriterTest, StreamsDoNotMixInsideALine) {
  writer_.Feed(OutputStream::kStdout, "ou");
  writer_.Feed(OutputStream::kStderr, "er");
  writer_.Feed(OutputStream::kStdout, "t\n");
  writer_.Feed(OutputStream::kStderr, "r\n");
  EXPECT_THAT(Written(), ElementsAre("101 INFO out", "103 ERROR err"));
}

TEST_F(LogWriterTest, InvalidUtf8IsReplaced) {
  writer_.Feed(OutputStream::kStdout, "a\xFFz\n");
  EXPECT_THAT(Written(), ElementsAre("101 INFO a\uFFFDz"));
}

TEST_F(LogWriterTest, FindsTracebacksOnStderrAndInEntries) {
  writer_.Feed(OutputStream::kStderr, "Traceback (most recent call last):\n  File \"a\", line 1\nE: 1\n");
  EXPECT_TRUE(writer_.holds_entry());
  writer_.ReleaseEntry();
  EXPECT_EQ(writer_.Traceback(), "Traceback (most recent call last):\n  File \"a\", line 1\nE: 1");
  writer_.Feed(OutputStream::kStructured,
               R"({"severity":"ERROR","message":"Traceback (most recent call last):\nE: 2"})"
               "\n");
  EXPECT_EQ(writer_.Traceback(), "Traceback (most recent call last):\nE: 2");
}

TEST_F(LogWriterTest, WhatPythonWritesToStderrIsOneEntryWithItsSeverity) {
  writer_.Feed(OutputStream::kStderr,
               "WARNING:root:careful\n/w/t.py:3: UserWarning: odd\n  warnings.warn('odd')\n"
               "Traceback (most recent call last):\n  File \"a\", line 1\nE: 1\n");
  writer_.Feed(OutputStream::kStdout, "going on\n");
  EXPECT_THAT(Written(),
              ElementsAre("101 WARNING WARNING:root:careful",
                          "103 WARNING /w/t.py:3: UserWarning: odd\n  warnings.warn('odd')",
                          "105 ERROR Traceback (most recent call last):\n  File \"a\", line 1\nE: 1",
                          "107 INFO going on"));
}

TEST_F(LogWriterTest, OfATracebackItsExceptionIsAmongTheLastLines) {
  std::string frames;
  for (int i = 0; i < 100; ++i) frames += "  File \"a\", line 1\n    go()\n";
  const std::string traceback = "Traceback (most recent call last):\n" + frames + "E: 1\n\t [[node]]\n\n" +
                                "Original stack trace for 'add':\n" + frames;
  writer_.Feed(OutputStream::kStderr, traceback);
  writer_.Finish(OutputStream::kStderr);
  const auto last = [this] {
    std::vector<std::string> texts;
    for (const auto& line : writer_.tail().Lines()) texts.push_back(line.text);
    writer_.tail().Clear();
    return texts;
  };
  EXPECT_THAT(last(), ElementsAre("E: 1", "\t [[node]]"));
  std::string escaped;
  for (const char c : "training failed\n" + traceback) {
    if (c == '"') escaped += '\\';
    escaped += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  writer_.Feed(OutputStream::kStructured, R"({"severity":"ERROR","message":")" + escaped + "\"}\n");
  EXPECT_THAT(last(), ElementsAre("E: 1", "\t [[node]]"));
}

TEST_F(LogWriterTest, OwnLinesCarryTheRunnersFields) {
  writer_.Say(logging::v2::LogEntry::INFO, "Running module t.");
  ASSERT_TRUE(writer_.Flush().has_value());
  const auto chunks = ReadSpool(folder_.path() + "/spool", 0);
  v1::LogLines lines;
  ASSERT_TRUE(lines.ParseFromString(chunks->front().lines()));
  const auto& fields = lines.line(0).json().fields();
  EXPECT_EQ(fields.at("pathname").string_value(), "/runcloudml.py");
  EXPECT_EQ(fields.at("levelname").string_value(), "INFO");
  EXPECT_EQ(fields.at("created").number_value(), 1e-7);
}

TEST(Stamper, StrictlyIncreasesAndIsOdd) {
  Stamper stamper;
  std::vector<std::uint64_t> stamps;
  for (const std::uint64_t now : {10U, 10U, 11U, 5U, 100U, 101U}) stamps.push_back(stamper.Next(now));
  EXPECT_EQ(stamps, (std::vector<std::uint64_t>{11, 13, 15, 17, 101, 103}));
}

using diagnosis::OutputLine;

TEST(OutputTail, KeepsTheLastLines) {
  OutputTail tail;
  EXPECT_TRUE(tail.Lines().empty());
  for (int i = 0; i < 100; ++i) tail.Add("line " + std::to_string(i), i % 2 == 0);
  const auto lines = tail.Lines();
  ASSERT_EQ(lines.size(), OutputTail::kLinesMax);
  EXPECT_EQ(lines.front(), (OutputLine{"line 36", true}));
  EXPECT_EQ(lines.back(), (OutputLine{"line 99", false}));
  tail.Clear();
  EXPECT_TRUE(tail.Lines().empty());
}

TEST(OutputTail, KeepsTheLastOfSeveralLinesAndWholeCharacters) {
  OutputTail tail;
  tail.Add("Traceback (most recent call last):\n  x\nValueError: no\n", true);
  tail.Add("", true);
  tail.Add(std::string(OutputTail::kLineBytesMax - 1, 'x') + "\xc3\xa9", false);
  const auto lines = tail.Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], (OutputLine{"ValueError: no", true}));
  EXPECT_EQ(lines[1].text, std::string(OutputTail::kLineBytesMax - 1, 'x'));
}

constexpr std::int64_t kLine = 100 + kLineOverheadBytes;

TEST(LogAllowanceTest, WithoutALimitKeepsEverything) {
  LogAllowance allowance;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(allowance.Keep(1 << 20));
  EXPECT_EQ(allowance.Note(1, true), std::nullopt);
  EXPECT_EQ(allowance.unreported(), LogAllowance::Loss());
}

TEST(LogAllowanceTest, OnceOverTheLimitKeepsNothing) {
  LogAllowance allowance({.attempt_bytes = 2 * kLine, .job_bytes = 0});
  EXPECT_TRUE(allowance.Keep(100));
  EXPECT_TRUE(allowance.Keep(100));
  EXPECT_EQ(allowance.Note(1, false), std::nullopt);
  EXPECT_FALSE(allowance.Keep(100));
  EXPECT_FALSE(allowance.Keep(0)) << "no holes";
  EXPECT_EQ(
      allowance.Note(1, false),
      "From here on, this replica's output is not stored: its limit is 2.4e-07 GB for a replica (trainyard "
      "serve --replica-logs-max-gb). The program continues to run.");
  EXPECT_EQ(allowance.Note(2, false), std::nullopt);
  EXPECT_FALSE(allowance.Keep(50));
  EXPECT_EQ(allowance.Note(kDroppedNoteIntervalNs, false), std::nullopt);
  EXPECT_EQ(
      allowance.Note(kDroppedNoteIntervalNs + 1, false),
      "3 lines of this replica's output, 150 bytes, are not in this log so far: its limit is 2.4e-07 GB "
      "for a replica (trainyard serve --replica-logs-max-gb).");
  EXPECT_EQ(allowance.Note(kDroppedNoteIntervalNs + 2, true), std::nullopt) << "nothing new";
}

TEST(LogAllowanceTest, TheEndSaysHowMuch) {
  LogAllowance allowance({.attempt_bytes = 0, .job_bytes = 10'000'000'000});
  allowance.CloseForJob();
  EXPECT_EQ(allowance.Note(1, false), std::nullopt) << "nothing was dropped yet";
  EXPECT_FALSE(allowance.Keep(7));
  EXPECT_EQ(
      allowance.Note(1, false),
      "From here on, this replica's output is not stored: the limit of this job's log is 10 GB (trainyard "
      "serve --job-logs-max-gb). The program continues to run.");
  EXPECT_EQ(
      allowance.Note(2, true),
      "1 line of this replica's output, 7 bytes, is not in this log: the limit of this job's log is 10 GB "
      "(trainyard serve --job-logs-max-gb).");
  EXPECT_EQ(allowance.unreported(), (LogAllowance::Loss{1, 7}));
  allowance.Forget();
  EXPECT_EQ(allowance.unreported(), LogAllowance::Loss());
}

TEST(LogAllowanceTest, HoldsAndReleases) {
  LogAllowance allowance;
  for (std::int64_t round = 1; round <= 2; ++round) {
    EXPECT_TRUE(allowance.Keep(5));
    allowance.Hold();
    EXPECT_FALSE(allowance.Keep(5));
    EXPECT_EQ(allowance.Note(1, false),
              "From here on, this replica's output is not stored until storing works again: it could not be "
              "stored. The program continues to run.");
    EXPECT_FALSE(allowance.Keep(5));
    allowance.Release();
    EXPECT_EQ(allowance.Note(1, false), std::to_string(2 * round) + " lines of this replica's output, " +
                                            std::to_string(10 * round) +
                                            " bytes, are not in this log so far: it could not be stored.");
    EXPECT_EQ(allowance.Note(1, true), std::nullopt);
  }
}

}  // namespace
}  // namespace trainyard::replica
