#include "stores/audit/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/async/file.h"

namespace trainyard::audit {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

class LineReaderTest : public testing::Test {
 protected:
  LineReaderTest() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~LineReaderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  LineReader Open(const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(folder_ + "/file", text));
    return LineReader::Open(folder_ + "/file").value();
  }
  static std::vector<std::string> Forwards(LineReader& reader) {
    std::vector<std::string> lines;
    for (std::int64_t at = 0;;) {
      const auto line = reader.At(at).value();
      if (!line) return lines;
      lines.emplace_back(line->text);
      at = line->end;
    }
  }
  static std::vector<std::string> Backwards(LineReader& reader) {
    std::vector<std::string> lines;
    for (std::int64_t at = reader.size();;) {
      const auto line = reader.Before(at).value();
      if (!line) return lines;
      lines.emplace_back(line->text);
      at = line->begin;
    }
  }

 private:
  std::string folder_ = testing::TempDir() + "line_reader_test.XXXXXX";
};

TEST_F(LineReaderTest, ReadsBothWays) {
  LineReader reader = Open("one\n\nthree\n");
  EXPECT_THAT(Forwards(reader), ElementsAre("one", "", "three"));
  EXPECT_THAT(Backwards(reader), ElementsAre("three", "", "one"));
}

TEST_F(LineReaderTest, PassesACutEndBy) {
  LineReader reader = Open("one\ntw");
  EXPECT_THAT(Forwards(reader), ElementsAre("one"));
  EXPECT_THAT(Backwards(reader), ElementsAre("", "one"));
  LineReader nothing = Open("");
  EXPECT_THAT(Forwards(nothing), ElementsAre());
  EXPECT_THAT(Backwards(nothing), ElementsAre());
}

TEST_F(LineReaderTest, ReadsManyBlocksBothWays) {
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 3'000; ++i) {
    lines.push_back(std::to_string(i) + std::string(static_cast<std::size_t>(i) % 997, 'x'));
    text += lines.back() + "\n";
  }
  LineReader reader = Open(text);
  EXPECT_THAT(Forwards(reader), ElementsAreArray(lines));
  std::ranges::reverse(lines);
  EXPECT_THAT(Backwards(reader), ElementsAreArray(lines));
}

TEST_F(LineReaderTest, PassesLinesBeyondTheLimitBy) {
  LineReader reader = Open("a\n" + std::string(3 * LineReader::kLineBytesMax, 'x') + "\nb\n");
  const std::vector<std::string> forwards = Forwards(reader);
  EXPECT_EQ(forwards.front(), "a");
  EXPECT_EQ(forwards.back(), "b");
  const std::vector<std::string> backwards = Backwards(reader);
  EXPECT_EQ(backwards.front(), "b");
  EXPECT_EQ(backwards.back(), "a");
}

TEST_F(LineReaderTest, FindsTheNextBeginning) {
  LineReader reader = Open("ab\ncd\n");
  for (const auto& [offset, start] : {std::pair{0, 0}, {1, 3}, {2, 3}, {3, 3}, {4, 6}, {6, 6}, {9, 6}})
    EXPECT_EQ(reader.LineStart(offset).value(), start) << offset;
}

}  // namespace
}  // namespace trainyard::audit
